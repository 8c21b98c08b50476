"""Model files between Python and the program, and what is refused of them."""
import json
import warnings

import numpy as np
import pytest
from conftest import DATA, csv

import kerf


@pytest.mark.parametrize("name, kind", [("digits", kerf.KernelClassifier), ("diabetes", kerf.KernelRidge), ("iris", kerf.KernelClassifier)])
def test_a_model_of_the_program_loads(name, kind, program, tmp_path):
    suffix = ".csv.gz" if name == "digits" else ".csv"
    program("fit", DATA / f"{name}_train{suffix}", "-o", "m.kerf", "--map", "arccos", "--features", 256, cwd=tmp_path)
    program("predict", "m.kerf", DATA / f"{name}_test{suffix}", "-o", "p.txt", cwd=tmp_path)
    model = kerf.load(tmp_path / "m.kerf")
    assert isinstance(model, kind) and model.get_params()["features"] == 256
    X, _ = csv(f"{name}_test{suffix}")
    if hasattr(model, "feature_names_in_"):
        X = pytest.importorskip("pandas").DataFrame(X, columns=model.feature_names_in_)
    predicted = model.predict(X)
    expected = [line.strip() for line in open(tmp_path / "p.txt")]
    if kind is kerf.KernelRidge:
        assert np.array_equal(predicted, np.array(expected, float))  # the same bits
    else:
        assert [str(p) for p in predicted] == expected
    model.save(tmp_path / "again.kerf")
    assert (tmp_path / "again.kerf").read_bytes() == (tmp_path / "m.kerf").read_bytes()


def test_the_program_reads_a_model_of_python(program, tmp_path):
    X, y = csv("iris_train.csv")
    model = kerf.KernelClassifier(map="arccos", features=256).fit(X, y)
    model.save(tmp_path / "iris.kerf")
    np.savetxt(tmp_path / "rows.csv", X, delimiter=",", fmt="%.17g")
    program("predict", "iris.kerf", "rows.csv", "-o", "p.txt", cwd=tmp_path)
    assert [line.strip() for line in open(tmp_path / "p.txt")] == list(model.predict(X))
    assert json.loads(program("score", "iris.kerf", DATA / "iris_train.csv", "--json", cwd=tmp_path))["accuracy"] == model.score(X, y)
    info = json.loads(program("info", "iris.kerf", "--json", cwd=tmp_path))
    assert "KernelClassifier" in json.dumps(info)


def test_the_same_fit_in_program_and_python_is_the_same_model(program, tmp_path):
    X, y = csv("diabetes_train.csv")
    program("fit", DATA / "diabetes_train.csv", "-o", "m.kerf", "--map", "rff", "--features", 200, "--seed", 5, cwd=tmp_path)
    theirs, ours = kerf.load(tmp_path / "m.kerf"), kerf.KernelRidge(map="rff", features=200, random_state=5).fit(X, y.astype(float))
    assert ours.options_ == theirs.options_ and ours.best_lambda_ == pytest.approx(theirs.best_lambda_, rel=1e-9)
    np.testing.assert_allclose(ours.predict(X), kerf_predict(theirs, X), rtol=1e-6)


def kerf_predict(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the model knows names, the array has none
        return model.predict(X)


def test_bad_model_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        kerf.load(tmp_path / "none.kerf")
    (tmp_path / "bad.kerf").write_text("nothing of the kind, but long enough")
    with pytest.raises(ValueError, match="not a kerf model"):
        kerf.load(tmp_path / "bad.kerf")
    X, y = csv("iris_train.csv")
    model = kerf.KernelClassifier(map="arccos", features=32).fit(X, y)
    model.save(tmp_path / "m.kerf")
    whole = (tmp_path / "m.kerf").read_bytes()
    (tmp_path / "m.kerf").write_bytes(whole[:-9])
    with pytest.raises(ValueError, match="damaged"):
        kerf.load(tmp_path / "m.kerf")
    with pytest.raises(ValueError, match="damaged"):
        type(model._model).__new__(type(model._model)).__setstate__(whole[:-9])


def test_load_keeps_to_a_memory_limit(regression, tmp_path):
    """A model file is untrusted: a small one may ask for a large map."""
    X, y = regression
    kerf.KernelRidge(map="rff", features=4096, lambda_=1e-3).fit(X, y).save(tmp_path / "m.kerf")
    assert kerf.load(tmp_path / "m.kerf", memory_limit="100M").predict(X[:2]).shape == (2,)
    with pytest.raises(MemoryError, match="is the limit"):
        kerf.load(tmp_path / "m.kerf", memory_limit="10K")
