"""Model files of earlier versions stay readable and predict what they did.

Each tests/golden/NAME.kerf was written by the version and command that `kerf info` shows, NAME.txt is what it predicted then for
the test rows of the data set that NAME begins with.  Files are added, never changed.
"""
import pathlib

import numpy as np
import pytest

from conftest import DATA

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"


@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.kerf")))
def test_a_model_of_an_earlier_version_predicts_the_same(kerf, name):
    data = name.split("_")[0]
    test = DATA / (f"{data}_test.csv.gz" if data == "digits" else f"{data}_test.csv")
    result = kerf("predict", GOLDEN / f"{name}.kerf", test)
    assert result.code == 0, result.err
    now, then = result.out.split(), (GOLDEN / f"{name}.txt").read_text().split()
    assert len(now) == len(then)
    if data == "diabetes":  # numbers: other CPU types agree within rounding
        np.testing.assert_allclose(np.array(now, float), np.array(then, float), rtol=1e-4)
    else:
        assert now == then


def test_there_is_a_golden_model_of_every_kind():
    assert len(list(GOLDEN.glob("*.kerf"))) >= 6
