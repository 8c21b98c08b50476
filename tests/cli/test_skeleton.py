"""kerf skeleton, and fits with compositional kernels."""
import json

from conftest import DATA

LAYERS = "circle 1, conv 3/2 relu, full relu"


def test_show_check_and_features(kerf, tmp_path):
    shown = kerf("skeleton", "show", LAYERS, "--image", "8x8x1", "-o", "net.svg")
    assert shown.code == 0 and "C(S) = 1 " in shown.out and "9 nodes: relu of 9" in shown.out
    assert (tmp_path / "net.svg").read_text().startswith("<svg")
    assert kerf("skeleton", "check", LAYERS, "--image", "8x8x1", "-o", "net.json").code == 0
    again = kerf("skeleton", "check", "net.json", "--json")
    assert again.code == 0 and again.json["columns"] == 64 and again.json["complexity"] == 1
    listed = kerf("skeleton", "features", "net.json", "--features", "50", "--show", "3", "-o", "features.txt")
    assert listed.code == 0 and listed.out.count("\n") == 4
    assert len((tmp_path / "features.txt").read_text().splitlines()) == 50


def test_errors_name_what_is_wrong(kerf, tmp_path):
    x = {"space": "circle", "columns": [0]}
    relu = lambda *names: {"activation": "relu", "in": list(names)}
    cases = {"cycle": {"x": x, "a": relu("x", "b"), "b": relu("a"), "o": relu("b")},
             "two outputs": {"x": x, "a": relu("x"), "b": relu("x")},
             "does not reach the output": {"x": x, "o": relu("x"), "a": relu("b"), "b": relu("a")},
             "negative": {"x": x, "o": {"activation": "series 1.5 -0.5", "in": ["x"]}},
             "infinite mean degree": {"x": x, "o": {"activation": "step", "in": ["x"]}}}
    for message, nodes in cases.items():
        (tmp_path / "bad.json").write_text(json.dumps({"columns": 1, "nodes": nodes}))
        found = kerf("skeleton", "check", "bad.json")
        assert found.code == 2 and message in found.err, found.err
    assert kerf("skeleton", "check", "absent.json").code == 1
    assert kerf("skeleton", "paint", LAYERS).code == 2


def test_a_model_keeps_the_text_of_its_skeleton(kerf, tmp_path):
    (tmp_path / "net.json").write_text(json.dumps({"image": [8, 8, 1], "base": {"space": "circle", "scale": 1},
                                                   "layers": [{"conv": 3, "activation": "relu"}, {"activation": "relu"}]}))
    fit = kerf("fit", DATA / "digits_train.csv.gz", "--image", "8x8x1", "--scale", "standard", "--map", "skeleton", "--skeleton", "net.json",
               "--features", "1000", "-o", "m.kerf", "--test", DATA / "digits_test.csv.gz", "--json")
    assert fit.code == 0, fit.err
    assert fit.json["test"]["accuracy"] > 0.93  # nearest class means reach 0.9
    (tmp_path / "net.json").unlink()
    score = kerf("score", "m.kerf", DATA / "digits_test.csv.gz", "--json")
    assert score.code == 0 and score.json["accuracy"] == fit.json["test"]["accuracy"]


def test_sgd_with_fresh_images_resumes_to_the_same_model(kerf):
    fit = ["fit", DATA / "digits_train.csv.gz", "--image", "8x8x1", "--scale", "standard", "--map", "skeleton", "--skeleton", LAYERS, "--features", "300",
           "--solver", "sgd", "--loss", "logistic", "--shift", "1", "--flip", "--learning-rate", "0.1", "--patience", "0", "--quiet"]
    checkpoint = ["--checkpoint", "state", "--checkpoint-interval", "0"]
    assert kerf(*fit, "--epochs", "2", *checkpoint, "-o", "half.kerf").code == 0
    assert kerf(*fit, "--epochs", "4", *checkpoint, "-o", "resumed.kerf").code == 0
    assert kerf(*fit, "--epochs", "4", "-o", "whole.kerf").code == 0
    half, resumed, whole = (kerf("predict", f"{name}.kerf", DATA / "digits_test.csv.gz", "--probability").out for name in ("half", "resumed", "whole"))
    assert resumed == whole and half != whole


def test_table_columns_become_circles_and_categories(kerf, tmp_path):
    towns, colours = ["Bonn", "Graz", "Lyon"], ["red", "blue"]
    lines = [f"{k % 7},{towns[k % 3]},{colours[k // 3 % 2]},{k % 7 + 10 * (k % 3 == 1) + 5 * (k // 3 % 2)}" for k in range(84)]
    (tmp_path / "table.csv").write_text("\n".join(["size,town,colour,price", *lines]) + "\n")
    fit = kerf("fit", "table.csv", "--task", "regression", "--map", "skeleton", "--skeleton", "table 0.5, full exp 2", "--features", "400", "-o", "m.kerf", "--json")
    assert fit.code == 0, fit.err
    nodes = json.loads(fit.json["options"]["skeleton"])["nodes"]
    assert sorted(node["space"] for node in nodes.values() if "space" in node) == ["categorical", "categorical", "circle"]
    assert sorted(len(node["columns"]) for node in nodes.values() if "space" in node) == [1, 2, 3]
    assert kerf("score", "m.kerf", "table.csv", "--json").json["r2"] > 0.99
