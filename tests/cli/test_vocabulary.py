"""One vocabulary: auto, names of maps and the target mean the same in every command."""
import numpy as np

from conftest import DATA


def test_auto_is_a_map_of_every_command_that_takes_one(kerf, tmp_path):
    wine = DATA / "wine_train.csv"
    fit = kerf("fit", wine, "--features", "64", "--metric", "none", "--json").json  # with features, not the kernel itself; these commands choose without a metric
    assert kerf("transform", wine, "--map", "auto", "--features", "64", "-o", "z.npy", "--json").json["options"] == fit["options"]
    assert kerf("transform", wine, "--model", "model.kerf", "-o", "m.npy").code == 0
    assert np.load(tmp_path / "z.npy").tobytes() == np.load(tmp_path / "m.npy").tobytes()
    diagnosis = kerf("diagnose", wine, "--map", "auto", "--features", "64", "--seeds", "1", "--json").json
    assert diagnosis["map"] == fit["map"] and diagnosis["options"] == fit["options"]
    selected = kerf("select", wine, "--map", "auto", "--features", "64", "--budget", "5", "-o", "r.txt", "--json").json
    assert selected["map"] == fit["map"] and selected["options"] == fit["options"]
    refused = kerf("transform", wine, "--target", "none", "--map", "auto", "-o", "z.npy")
    assert refused.code == 2 and "target" in refused.err


def test_lists_and_help_speak_of_one_map(kerf):
    names = [m["name"] for m in kerf("maps", "--json").json["maps"]]
    assert names[:2] == ["auto", "exact"]
    (rff,) = kerf("maps", "rff", "--json").json["maps"]
    assert {o["name"] for o in rff["options"]} == {"kernel", "bandwidth", "features", "form"}
    wrong = kerf("maps", "rf")
    assert wrong.code == 2 and "did you mean 'rff'" in wrong.err
    of_rff = kerf("fit", "--help", "--map", "rff").out
    assert "Options of rff" in of_rff and "--bandwidth" in of_rff and "--depth N" not in of_rff and "cntk" not in of_rff.split("Examples:")[0]
    plain = kerf("fit", "--help").out
    assert "kerf maps rff" in plain and "--depth N" not in plain
    script = kerf("completion", "bash").out
    assert "--map) words=\"auto exact rff" in script
    assert "Exit codes: 0" in kerf("--help").out


def test_help_of_a_map_has_its_own_words_and_defaults(kerf):
    for name in ("rff", "ntk-rf", "arccos", "exact"):
        text = " ".join(kerf("fit", "--help", "--map", name).out.split("Options of " + name)[1].split("Examples:")[0].split())
        for option in kerf("maps", name, "--json").json["maps"][0]["options"]:
            assert option["help"] in text and f"[{option['default']}]" in text, (name, option)
    exact = kerf("fit", "--help", "--map", "exact").out
    assert "kerf kernels" in exact and "shift-invariant kernel" not in exact
    for command in ("transform", "diagnose"):  # rows as they are: no column is appended to them
        bias = kerf(command, "--help", "--map", "arccos").out.split("--bias")[1].split("--")[0]
        assert "[0]" in bias, (command, bias)


def test_a_map_without_features_is_refused_where_features_are_wanted(kerf):
    wine = DATA / "wine_train.csv"
    for command in (["transform", wine, "-o", "z.npy"], ["diagnose", wine], ["plan", wine, "--kernel-error", "0.2"], ["select", wine, "--budget", "3", "-o", "r.txt"]):
        refused = kerf(*command, "--map", "exact")
        assert refused.code == 2 and "has no features" in refused.err and "nystrom" in refused.err, refused.err


def test_plan_takes_auto(kerf):
    wine = DATA / "wine_train.csv"
    plan = kerf("plan", wine, "--map", "auto", "--kernel-error", "0.3", "--json").json
    chosen = kerf("transform", wine, "--map", "auto", "-o", "z.npy", "--json").json  # as many features as a fit has
    assert plan["map"] == chosen["map"] and f"--map {chosen['map']}" in plan["command"]
