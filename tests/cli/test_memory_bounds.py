"""What --memory allows is not exceeded by files and models that say little and stand for much."""
import json
import subprocess
import sys
import time

import pytest

from conftest import PROGRAM
from test_forged import forged

# Started from a small process: the high-water mark of a child begins at that of whoever started it.
MEASURE = """import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"""


@pytest.fixture
def bounded(tmp_path):
    """Runs the program; its error, after it refused with exit code 1 and held less than the limit."""

    def run(*arguments, limit):
        command = [PROGRAM, *map(str, arguments), "--memory", f"{limit}M"]
        done = subprocess.run([sys.executable, "-c", MEASURE, *command], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        code, kilobytes = map(int, done.stdout.split())
        assert code == 1 and done.stderr.count("\n") == 1, (code, done.stderr[:300])
        assert kilobytes < limit * 1024, kilobytes
        return done.stderr

    return run


@pytest.mark.parametrize("columns, command", [(1_000_000, ("fit", "-o", "m.kerf")), (10_000_000, ("fit", "-o", "m.kerf")), (300_000, ("kernel", "-o", "k.npy")),
                                              (300_000, ("select", "--map", "rff", "-o", "rows.txt"))])
def test_wide_tables(bounded, tmp_path, columns, command):
    row = ",".join("1234567"[i % 7] for i in range(columns))
    (tmp_path / "wide.csv").write_text(f"{row}\n{row[::-1]}\n{row}\n")
    text = bounded(command[0], "wide.csv", *command[1:], limit=200)
    assert "memory" in text.lower() and f"{columns} columns" in text, text


def test_a_named_table(bounded, tmp_path):
    names = ",".join(f"c{i}" for i in range(400_000))
    (tmp_path / "wide.csv").write_text(names + "\n" + ",".join("1" * 400_000) + "\n" + ",".join("2" * 400_000) + "\n")
    assert "400000 columns" in bounded("fit", "wide.csv", limit=200)


def test_a_sample_of_wide_rows(bounded, tmp_path):
    row = ",".join(str(i % 10) for i in range(10_000))
    (tmp_path / "t.csv").write_text((row + "\n") * 600)
    assert "sample" in bounded("fit", "t.csv", limit=100)


def test_a_large_index(bounded, tmp_path):
    (tmp_path / "t.svm").write_text("1 2:1\n0 20000000:1\n")
    assert "columns" in bounded("fit", "t.svm", limit=100)


@pytest.fixture
def skeleton(kerf, tmp_path):
    """A function that forges the options of a small model of LIBSVM rows."""
    (tmp_path / "t.svm").write_text("".join(f"{i % 3}.5 1:{i % 5} 2:{i % 7} 3:1\n" for i in range(40)))
    fitted = kerf("fit", "t.svm", "--map", "skeleton", "--skeleton", "circle 1, full relu", "--features", "16", "--scale", "none", "--quiet", "-o", "m.kerf")
    assert fitted.code == 0, fitted.err

    def forge(columns, **options):
        def change(header):
            parsed = json.loads(header)
            parsed["recipe"]["in_dim"] = parsed["encoding"]["inputs"] = columns
            parsed["recipe"]["options"].update(options)
            return json.dumps(parsed)

        return forged(tmp_path / "m.kerf", change)

    return forge


@pytest.mark.parametrize("columns, options", [
    (1_000_000, {"image": "1000x1000x1"}),
    (1_000_000, {"image": "auto"}),
    (250_000, {"image": "500x500x1", "skeleton": "circle 1, conv 30 relu, full relu"}),
    (250_000, {"image": "500x500x1", "skeleton": "gaussian 1 30, full relu"}),
    (3, {"image": "auto", "skeleton": "circle 1" + 5 * ", full power 65535"}),
    (3, {"image": "auto", "skeleton": "circle 1" + 200 * ", full exp 100"}),
])
def test_models_of_large_skeletons(bounded, skeleton, columns, options):
    model = skeleton(columns, **options)
    assert model.stat().st_size < 6000
    for command in [("predict",), ("score",)]:
        assert "memory" in bounded(*command, model, "t.svm", limit=100)


def test_a_model_of_a_thousand_layers_is_refused_at_once(kerf, skeleton):
    """Drawing its features took 13 s."""
    model = skeleton(3, image="auto", skeleton="circle 1" + 1000 * ", full relu")
    begin = time.monotonic()
    result = kerf("predict", model, "t.svm")
    assert result.code != 0 and "1000 layers" in result.err and result.err.count("\n") == 1, result.err
    assert time.monotonic() - begin < 5


def test_a_fit_of_nested_powers(bounded, tmp_path):
    (tmp_path / "t.csv").write_text("".join(f"{i % 7},{i % 3},{i}.5\n" for i in range(40)))
    text = "circle 1" + 3 * ", full power 65535"
    assert "memory" in bounded("fit", "t.csv", "--map", "skeleton", "--skeleton", text, "--features", "4096", limit=100)


def test_a_map_is_not_made_for_weights_that_are_not_there(kerf, model):
    def change(header):
        return header.replace('"features":"64"', '"features":"16777216"')

    result = kerf("info", forged(model, change))
    assert result.code == 1 and "64" in result.err and "16777216" in result.err, result.err
    assert result.err.count("\n") == 1
