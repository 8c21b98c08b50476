"""A learned metric through the program: where it helps, where it must not be taken, what is said of it."""
import numpy as np
import pytest


def write(path, x, y, names=None):
    names = names or [f"c{k}" for k in range(x.shape[1])]
    rows = [",".join([*names, "y"])] + [",".join(f"{v:.9g}" for v in (*row, target)) for row, target in zip(x, y)]
    path.write_text("\n".join(rows) + "\n")


@pytest.fixture
def interaction(tmp_path):
    """Two columns of twelve matter, and only together."""
    draw = np.random.default_rng(0)
    x = draw.normal(size=(900, 12))
    y = np.sin(2 * x[:, 2]) * np.cos(2 * x[:, 9]) + 0.05 * draw.normal(size=900)
    write(tmp_path / "train.csv", x[:600], y[:600])
    write(tmp_path / "test.csv", x[600:], y[600:])


def test_auto_takes_a_metric_where_it_helps(kerf, interaction):
    plain = kerf("fit", "train.csv", "--metric", "none", "--test", "test.csv", "--json").json
    fit = kerf("fit", "train.csv", "--test", "test.csv", "-o", "m.kerf", "--json").json
    assert fit["test"]["rmse"] < 0.5 * plain["test"]["rmse"]
    assert any("rows that it never saw" in note for note in fit["notes"])
    importance = kerf("info", "m.kerf", "--json").json["importance"]
    assert sorted(importance, key=importance.get)[-2:] in (["c2", "c9"], ["c9", "c2"]) and abs(sum(importance.values()) - 1) < 1e-9
    assert "metric" in kerf("info", "m.kerf").out


def test_any_map_takes_the_metric_asked_for(kerf, interaction):
    for metric in ("diagonal", "full"):
        for options in (["--map", "rff", "--features", "256"], ["--map", "exact", "--kernel", "gaussian"], ["--map", "nystrom", "--features", "200"]):
            fit = kerf("fit", "train.csv", *options, "--metric", metric, "--test", "test.csv", "--json")
            assert fit.code == 0, fit.err
            assert kerf("info", "model.kerf", "--json").json["importance"] is not None, (metric, options)


def test_threads_and_blocks_change_no_bit(kerf, interaction, tmp_path):
    for threads in ("1", "2"):
        assert kerf("fit", "train.csv", "-o", f"{threads}.kerf", "--threads", threads).code == 0
        assert kerf("predict", f"{threads}.kerf", "test.csv", "-o", f"{threads}.npy").code == 0
    assert (tmp_path / "1.npy").read_bytes() == (tmp_path / "2.npy").read_bytes()


def test_noise_gets_no_metric(kerf, tmp_path):
    draw = np.random.default_rng(1)
    write(tmp_path / "noise.csv", draw.normal(size=(300, 5)), draw.normal(size=300))
    fit = kerf("fit", "noise.csv", "--task", "regression", "-o", "n.kerf", "--json").json
    assert kerf("info", "n.kerf", "--json").json["importance"] is None
    assert any("no better" in warning or "hardly" in warning for warning in fit["warnings"])


def test_what_cannot_be_is_refused(kerf, interaction, tmp_path):
    (tmp_path / "sparse.svm").write_text("".join(f"{i % 2} {1 + i % 7}:1 {9 + i % 5}:2\n" for i in range(100)))
    refused = kerf("fit", "sparse.svm", "--metric", "full")
    assert refused.code == 2 and "sparse rows would become dense" in refused.err
    draw = np.random.default_rng(2)
    write(tmp_path / "wide.csv", draw.normal(size=(70, 300)), draw.normal(size=70))
    refused = kerf("fit", "wide.csv", "--map", "rff", "--metric", "full")
    assert refused.code == 2 and "--metric diagonal" in refused.err
    few = kerf("fit", "wide.csv", "--rows", "20", "--map", "rff", "--metric", "diagonal")
    assert few.code == 2 and "60 rows" in few.err
