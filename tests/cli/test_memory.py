"""What a fit takes of the memory, with a limit and without one."""
import pathlib
import re

import numpy as np
import pytest
from conftest import DATA, PROGRAM

MEGA = 1 << 20


@pytest.fixture
def table(tmp_path):
    """2,500 rows of 8 columns, a smooth target."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(2500, 8))
    y = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.1 * rng.normal(size=2500)
    np.savetxt(tmp_path / "t.csv", np.column_stack([x, y]), fmt="%.5f", delimiter=",")
    return "t.csv"


def peak(kerf, *arguments):
    result = kerf("fit", *arguments, "-o", "m.kerf", "--json")
    assert result.code == 0, result.err
    return result.json["peak_memory_bytes"], result.json


@pytest.mark.skipif(b"__asan_init" in pathlib.Path(PROGRAM).read_bytes(), reason="a sanitizer takes memory of its own")
@pytest.mark.parametrize("limit", [30, 60])
def test_map_auto_keeps_to_the_memory(kerf, table, tmp_path, limit):
    """60M peaked at 192 MB: the choice of the map was not counted.  Bare is a fit of twelve rows."""
    (tmp_path / "few.csv").write_text("\n".join((tmp_path / table).read_text().splitlines()[:12]) + "\n")
    bare, _ = peak(kerf, "few.csv", "--map", "rff", "--features", "2", "--lambda", "1")
    most, fit = peak(kerf, table, "--kernel", "gaussian", "--memory", f"{limit}M")
    assert most - bare <= limit * MEGA
    assert fit["solver"] != "sgd" and fit["features"] < 4096
    assert "instead of 4096" in fit["notes"][0]


def test_fewer_features_than_the_default_stand_in_the_first_line(kerf, table):
    result = kerf("fit", table, "--kernel", "gaussian", "--bandwidth", "2", "--memory", "60M")
    assert result.code == 0, result.err
    first = result.out.splitlines()[0]
    assert first.startswith("memory") and "features instead of 4096" in first and "60 MB" in first


def test_too_little_memory_is_refused_with_what_fits(kerf, table):
    """It became 20 unfinished epochs of sgd."""
    options = ["--map", "rff", "--bandwidth", "3", "--memory", "60M"]
    result = kerf("fit", table, *options, "--features", "4096")
    assert result.code == 1 and "60 MB is the limit given" in result.err and "--solver sgd" in result.err
    fitting = re.search(r"--features (\d+) or fewer", result.err).group(1)
    assert 256 < int(fitting) < 4096
    _, fit = peak(kerf, table, *options, "--features", fitting)
    assert fit["solver"] != "sgd" and fit["estimated_memory_bytes"] <= 60 * MEGA
    assert kerf("fit", table, *options, "--features", "4096", "--solver", "sgd", "--epochs", "1").code == 0


def test_compare_refuses_the_same_and_recommends_what_it_measured(kerf, table):
    options = ["--maps", "rff", "--seeds", "1", "--sample", "0", "--lambda", "1e-3", "--memory", "60M"]
    result = kerf("compare", table, *options, "--features", "64,4096")
    assert result.code == 1 and "4096 features" in result.err and "--solver sgd" in result.err
    result = kerf("compare", table, *options, "--features", "64", "--json")
    assert result.code == 0, result.err
    assert "--memory 60M" in result.json["recommendation"]["command"]


def test_options_of_sgd_are_not_passed_over(kerf):
    """Nobody but who names it takes sgd."""
    result = kerf("fit", DATA / "iris_train.csv", "--map", "rff", "--epochs", "3")
    assert result.code == 2 and "--solver sgd" in result.err


def test_features_asked_for_are_made(kerf):
    """The exact kernel took the place of 64 features in silence."""
    fit = kerf("fit", DATA / "iris_train.csv", "--features", "64", "--json").json
    assert fit["features"] == 64 and fit["map"] != "exact"
    assert kerf("fit", DATA / "iris_train.csv", "--json").json["map"] == "exact"
