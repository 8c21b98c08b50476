"""Intervals and sets of classes: what is written, what is counted, what is refused."""
import numpy as np
import pytest
from conftest import DATA


def write(path, rows, seed, targets=1, names="y"):
    """Noise that grows with the first input; with classes words instead."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 2))
    y = np.sin(2 * x[:, :1]) + (0.1 + 0.5 * np.abs(x[:, 1:])) * rng.normal(size=(rows, targets))
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", fmt="%.9g", header="a,b," + ",".join(f"{names}{t}" for t in range(targets)), comments="")
    return x, y


def write_classes(path, rows, seed, words=("red", "green", "blue")):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 2))
    label = np.digitize(x[:, 0] + 0.7 * rng.normal(size=rows), [-0.5, 0.5])
    path.write_text("a,b,colour\n" + "".join(f"{a!r},{b!r},{words[k]}\n" for (a, b), k in zip(x.tolist(), label)))
    return np.array(words)[label]


def refused(result):
    assert result.code == 2
    return result.err


def columns(result):
    assert result.code == 0, result.err
    return np.array([[float(cell) for cell in line.split(",")] for line in result.out.splitlines()])


def test_interval_columns_and_their_score(kerf, tmp_path):
    write(tmp_path / "train.csv", 500, 1)
    _, y = write(tmp_path / "test.csv", 400, 2)
    fit = kerf("fit", "train.csv", "--map", "rff", "--features", 64, "--intervals", "conformal", "--test", "test.csv", "--json").json
    assert fit["rows"] + fit["calibration_rows"] == 500 and 70 < fit["calibration_rows"] < 130
    found = columns(kerf("predict", "model.kerf", "test.csv", "--interval", "0.8"))
    plain = columns(kerf("predict", "model.kerf", "test.csv"))
    assert found.shape == (400, 3) and np.array_equal(found[:, :1], plain)
    assert np.ptp(found[:, 2] - found[:, 1]) < 1e-9  # one width for all
    inside = (found[:, 1:2] <= y) & (y <= found[:, 2:])
    score = kerf("score", "model.kerf", "test.csv", "--json").json
    assert [one["promised"] for one in score["intervals"]] == [0.5, 0.8, 0.9, 0.95]
    one = score["intervals"][1]
    assert one["kind"] == "conformal" and one["coverage"] == pytest.approx(inside.mean()) and one["mean_width"] == pytest.approx(np.mean(found[:, 2] - found[:, 1]))
    assert fit["test"]["intervals"] == score["intervals"]
    kerf("predict", "model.kerf", "test.csv", "--interval", "0.8", "-o", "p.npy")
    assert np.array_equal(np.load(tmp_path / "p.npy"), found)
    assert np.array_equal(kerf("predict", "model.kerf", "test.csv", "--interval", "0.8", "--json").json["predictions"], found)
    text = kerf("score", "model.kerf", "test.csv").out
    assert "promised" in text and "mean width" in text and "in the target's unit" in text
    assert "conformal, calibrated on" in kerf("info", "model.kerf").out
    assert kerf("info", "model.kerf", "--json").json["intervals"] == {"kind": "conformal", "calibration_rows": fit["calibration_rows"]}


def test_several_targets_and_variances(kerf, tmp_path):
    write(tmp_path / "train.csv", 400, 3, targets=2)
    _, y = write(tmp_path / "test.csv", 300, 4, targets=2)
    kerf("fit", "train.csv", "--target", "y0,y1", "--map", "rff", "--features", 64, "--intervals", "conformal", "--variance")
    found = columns(kerf("predict", "model.kerf", "test.csv", "--variance", "--interval", "0.9"))
    assert found.shape == (300, 8)
    targets = kerf("score", "model.kerf", "test.csv", "--json").json["targets"]
    for t in range(2):
        values, variance, lower, upper = found[:, t], found[:, 2 + t], found[:, 4 + 2 * t], found[:, 5 + 2 * t]
        assert np.ptp((upper - values) / np.sqrt(variance)) < 1e-6  # in units of the deviation
        scores = {(one["kind"], one["promised"]): one for one in targets[t]["intervals"]}
        assert len(scores) == 8
        assert scores["conformal", 0.9]["coverage"] == pytest.approx(np.mean((lower <= y[:, t]) & (y[:, t] <= upper)))
        assert scores["normal", 0.9]["coverage"] == pytest.approx(np.mean(np.abs(y[:, t] - values) <= 1.6448536269514722 * np.sqrt(variance)))
        assert scores["normal", 0.5]["mean_width"] == pytest.approx(np.mean(2 * 0.6744897501960817 * np.sqrt(variance)))


def test_variances_alone_have_normal_intervals(kerf):
    kerf("fit", DATA / "diabetes_train.csv", "--map", "rff", "--features", 64, "--variance", "-o", "v.kerf")
    both = columns(kerf("predict", "v.kerf", DATA / "diabetes_test.csv", "--variance", "--interval", "0.95"))
    assert both[:, 3] == pytest.approx(both[:, 0] + 1.959963984540054 * np.sqrt(both[:, 1]))
    score = kerf("score", "v.kerf", DATA / "diabetes_test.csv", "--json").json
    assert [one["kind"] for one in score["intervals"]] == ["normal"] * 4 and score["coverage90"] == score["intervals"][2]["coverage"]


def test_sets_of_classes(kerf, tmp_path):
    write_classes(tmp_path / "train.csv", 600, 5)
    labels = write_classes(tmp_path / "test.csv", 400, 6)
    kerf("fit", "train.csv", "--map", "rff", "--features", 64, "--intervals", "conformal")
    sets = [line.split("|") for line in kerf("predict", "model.kerf", "test.csv", "--interval", "0.9").out.splitlines()]
    best = kerf("predict", "model.kerf", "test.csv").out.split()
    assert all(b in s for b, s in zip(best, sets)) and max(map(len, sets)) > 1
    assert kerf("predict", "model.kerf", "test.csv", "--interval", "0.9", "--json").json["predictions"] == sets
    kerf("predict", "model.kerf", "test.csv", "--interval", "0.9", "-o", "p.npy")
    classes = kerf("info", "model.kerf", "--json").json["classes"]
    assert [[c for c, member in zip(classes, row) if member] for row in np.load(tmp_path / "p.npy")] == sets
    score = kerf("score", "model.kerf", "test.csv", "--json").json
    one = score["sets"][2]
    assert one["promised"] == 0.9 and one["coverage"] == pytest.approx(np.mean([label in s for label, s in zip(labels, sets)]))
    assert one["mean_size"] == pytest.approx(np.mean([len(s) for s in sets])) and one["single"] == pytest.approx(np.mean([len(s) == 1 for s in sets]))
    assert "sets of classes" in kerf("score", "model.kerf", "test.csv").out


def test_worst_rows_say_what_their_number_is(kerf, tmp_path):
    write_classes(tmp_path / "train.csv", 300, 7)
    labels = write_classes(tmp_path / "test.csv", 200, 8)
    kerf("fit", "train.csv", "--map", "rff", "--features", 64)
    score = kerf("score", "model.kerf", "test.csv", "--worst", "4", "--json").json
    found = kerf("predict", "model.kerf", "test.csv", "--probability", "--json").json
    p = np.array(found["predictions"])
    right = p[np.arange(200), [found["classes"].index(label) for label in labels]]
    wrong = p.max(axis=1) > right
    assert [w["row"] for w in score["worst"]] == [int(i) for i in np.argsort(right) if wrong[i]][:4]
    assert [w["probability"] for w in score["worst"]] == pytest.approx(np.sort(right[wrong])[:4])
    assert "true class" in score["worst_error"]
    assert "probability given to the true class" in kerf("score", "model.kerf", "test.csv").out


def test_pages_show_what_intervals_hold(kerf, tmp_path):
    write(tmp_path / "train.csv", 300, 9)
    kerf("fit", "train.csv", "--map", "rff", "--features", 32, "--intervals", "conformal", "--holdout", "0.3", "--report", "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "What intervals hold" in page and "conformal" in page and "in the target" in page
    write_classes(tmp_path / "c.csv", 300, 9)
    kerf("fit", "c.csv", "--map", "rff", "--features", 32, "--intervals", "conformal", "--holdout", "0.3", "--report", "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "What sets of classes hold" in page and "probability of the true class" in page


def test_what_cannot_be_had_is_refused(kerf, tmp_path):
    write(tmp_path / "t.csv", 100, 10)
    fit = ["fit", "t.csv", "--map", "rff", "--features", 16]
    kerf(*fit)
    assert "--intervals conformal" in refused(kerf("predict", "model.kerf", "t.csv", "--interval", "0.9"))
    kerf(*fit, "--intervals", "conformal", "--checkpoint", "kept", "--solver", "cholesky")
    words = refused(kerf("predict", "model.kerf", "t.csv", "--interval", "0.999"))
    assert "needs 999 calibration rows" in words
    for level in ("90", "0", "1", "-0.5", "much"):
        assert "between 0 and 1" in refused(kerf("predict", "model.kerf", "t.csv", f"--interval={level}"))
    assert "intervals" in refused(kerf("refit", "model.kerf", "--checkpoint", "kept", "--lambda", "0.1", "-o", "again.kerf"))
    assert "--intervals conformal" in refused(kerf(*fit, "--calibration-part", "0.3"))
    assert "--intervals" in refused(kerf("compare", "t.csv", "--intervals", "conformal"))
    lines = (tmp_path / "t.csv").read_text().splitlines()
    (tmp_path / "w.csv").write_text("w," + lines[0] + "\n" + "".join(f"{1 + i % 3},{line}\n" for i, line in enumerate(lines[1:])))
    assert "weights that differ" in refused(kerf("fit", "w.csv", "--weights", "w", "--map", "rff", "--features", 16, "--intervals", "conformal"))
    write_classes(tmp_path / "c.csv", 200, 11, ("a|b", "c", "d"))
    kerf("fit", "c.csv", "--map", "rff", "--features", 16, "--intervals", "conformal", "-o", "c.kerf")
    assert "a|b" in refused(kerf("predict", "c.kerf", "c.csv", "--interval", "0.9"))
    assert kerf("predict", "c.kerf", "c.csv", "--interval", "0.9", "--json").json["rows"] == 200
    assert "take one" in refused(kerf("predict", "c.kerf", "c.csv", "--interval", "0.9", "--probability", "--json"))


def test_images_are_calibrated_without_their_copies(kerf, tmp_path):
    rng = np.random.default_rng(12)
    x = rng.integers(0, 256, (300, 6, 6, 1), dtype=np.uint8)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", (x[:, :, :3].mean(axis=(1, 2, 3)) > x[:, :, 3:].mean(axis=(1, 2, 3))).astype(int))
    fit = kerf("fit", "x.npy", "--labels", "y.npy", "--task", "classification", "--map", "arccos", "--features", 64, "--shift", 1, "--copies", 3, "--intervals", "conformal", "--json").json
    assert fit["rows"] == 3 * (300 - fit["calibration_rows"])
