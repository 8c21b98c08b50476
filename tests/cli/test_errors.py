"""Every bad input gets one clear line and the right exit code, and leaves nothing behind."""
import json
import re
import resource
import signal
import subprocess
import time

import pytest

from conftest import DATA, PROGRAM, ROOT

GOOD = "a,b,y\n1,2,0.5\n2,3,1.5\n3,5,2.5\n4,4,3.5\n5,1,0.25\n"

# name: (content of the file, more arguments, exit code, words that the message must hold)
BAD_FITS = {
    "empty file": ("", [], 1, ["bad.csv", "empty"]),
    "header only": ("a,b,y\n", [], 1, ["bad.csv", "no rows"]),
    "ragged row": ("a,b,y\n1,2,3\n4,5\n", [], 1, ["bad.csv:3", "2", "3"]),
    "a word where a number was": (GOOD + "6,oops,1\n", [], 1, ["bad.csv:7:3", "oops"]),
    "NaN": (GOOD + "6,nan,1\n", [], 1, ["bad.csv:7:3"]),
    "empty cell": (GOOD + "6,,1\n", [], 1, ["bad.csv:7:3", "--missing"]),
    "infinity": (GOOD + "6,inf,1\n", [], 1, ["bad.csv:7:3", "inf"]),
    "beyond double": (GOOD + "6,1e400,1\n", [], 1, ["bad.csv:7:3", "1e400"]),
    "target absent": (GOOD, ["--target", "z"], 2, ["z", "a"]),
    "target beyond the columns": (GOOD, ["--target", "7"], 2, ["7"]),
    "one class only": ("a,y\n1,x\n2,x\n3,x\n", [], 1, ["x"]),
    "one row only": ("a,y\n1,2.5\n", [], 1, ["2 rows"]),
    "more features than memory": (GOOD, ["--map", "rff", "--features", "16777216", "--memory", "50M"], 1, ["memory", "--features"]),
    "absurd features": (GOOD, ["--features", "1e30"], 2, ["--features"]),
    "no features": (GOOD, ["--features", "0"], 2, ["--features"]),
    "odd features for pairs": (GOOD, ["--map", "rff", "--features", "7"], 2, ["even"]),
    "absurd lambda": (GOOD, ["--lambda", "-1"], 2, ["--lambda"]),
    "lambda a word": (GOOD, ["--lambda", "small"], 2, ["--lambda", "small"]),
    "absurd threads": (GOOD, ["--threads", "0"], 2, ["--threads"]),
    "absurd memory": (GOOD, ["--memory", "lots"], 2, ["lots"]),
    "absurd folds": (GOOD, ["--folds", "1"], 2, ["--folds"]),
    "unknown map": (GOOD, ["--map", "rtf"], 2, ["rtf", "did you mean 'rff'"]),
    "unknown option": (GOOD, ["--fetures", "8"], 2, ["--fetures", "--features"]),
    "another tool's option": (GOOD, ["--gamma", "1"], 2, ["--gamma", "--bandwidth"]),
    "option of another map": (GOOD, ["--map", "arccos", "--bandwidth", "2"], 2, ["arccos", "--bandwidth"]),
    "unknown choice": (GOOD, ["--map", "rff", "--kernel", "gausian"], 2, ["gausian", "did you mean 'gaussian'"]),
    "unwritable output": (GOOD, ["-o", "no/such/folder/m.kerf"], 1, ["no/such/folder/m.kerf"]),
    "output is a folder": (GOOD, ["-o", "."], 1, ["."]),
    "singular system": ("a,b,y\n" + "".join(f"1,1,{i}.5\n" for i in range(80)), ["--features", "8", "--lambda", "0"], 1, ["singular", "--lambda"]),
}


def check(result, code, words):
    assert result.code == code, (result.code, result.err)
    lines = result.err.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("kerf: "), result.err
    for word in words:
        assert word in lines[0], (word, lines[0])


@pytest.mark.parametrize("name", BAD_FITS)
def test_bad_fit(kerf, tmp_path, name):
    content, arguments, code, words = BAD_FITS[name]
    (tmp_path / "bad.csv").write_text(content)
    check(kerf("fit", "bad.csv", *arguments), code, words)
    assert [p.name for p in tmp_path.iterdir()] == ["bad.csv"], "something was left behind"


def test_missing_file_and_unknown_command(kerf):
    check(kerf("fit", "nowhere.csv"), 1, ["nowhere.csv"])
    check(kerf("fitt", "nowhere.csv"), 2, ["fitt", "did you mean 'fit'"])
    check(kerf("fit"), 2, ["DATA"])


def test_errors_are_json_on_request(kerf):
    result = kerf("fit", "nowhere.csv", "--json")
    assert "nowhere.csv" in json.loads(result.out)["error"] and result.code == 1


def test_predict_with_the_wrong_columns(kerf, model, tmp_path):
    (tmp_path / "two.csv").write_text("1,2\n3,4\n")
    check(kerf("predict", model, "two.csv"), 1, ["2", "4"])
    (tmp_path / "named.csv").write_text("sepal_length,sepal_width,petal_length,height\n1,2,3,4\n")
    check(kerf("predict", model, "named.csv"), 1, ["petal_width"])


def test_score_without_targets_or_with_unknown_classes(kerf, model, tmp_path):
    (tmp_path / "x.csv").write_text("5.1,3.5,1.4,0.2\n")
    assert kerf("score", model, "x.csv").code in (1, 2)
    (tmp_path / "y.csv").write_text("5.1,3.5,1.4,0.2,tulip\n")
    check(kerf("score", model, "y.csv"), 1, ["tulip"])


def test_files_that_are_no_models(kerf, model, tmp_path):
    data = DATA / "iris_test.csv"
    check(kerf("predict", data, data), 1, ["not a kerf model"])
    check(kerf("info", "nothing.kerf"), 1, ["nothing.kerf"])
    whole = model.read_bytes()
    for size in (0, 5, 16, 100, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.kerf").write_bytes(whole[:size])
        check(kerf("predict", "cut.kerf", data), 1, ["cut.kerf"])
    for position in range(0, len(whole), len(whole) // 40):
        altered = bytearray(whole)
        altered[position] ^= 0x10
        (tmp_path / "cut.kerf").write_bytes(bytes(altered))
        check(kerf("predict", "cut.kerf", data), 1, ["cut.kerf"])


def limit_file_size():
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def test_a_full_disk_leaves_the_old_file_and_no_debris(kerf, tmp_path):
    # A limit on the size of files stands for a disk without room: the same failed write.
    (tmp_path / "m.kerf").write_text("old")
    check(kerf("fit", DATA / "wine_train.csv", "-o", "m.kerf", preexec_fn=limit_file_size), 1, ["m.kerf"])
    assert (tmp_path / "m.kerf").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["m.kerf"]
    check(kerf("transform", DATA / "wine_train.csv", "--map", "rff", "-o", "z.npy", preexec_fn=limit_file_size), 1, ["z.npy"])
    assert [p.name for p in tmp_path.iterdir()] == ["m.kerf"]


def test_standard_output_that_cannot_be_written(model):
    with open("/dev/full", "w") as full:
        done = subprocess.run([PROGRAM, "predict", str(model), str(DATA / "iris_test.csv")], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "standard output" in done.stderr


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_fit_leaves_nothing(tmp_path, stop):
    row = ",".join(str(i * 0.37 % 1) for i in range(40))
    (tmp_path / "big.csv").write_text("".join(f"{i % 991 / 7},{row},{i % 1013}.25\n" for i in range(60000)))
    process = subprocess.Popen([PROGRAM, "fit", "big.csv", "--features", "4096"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1.5)
    process.send_signal(stop)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + stop, err
    assert err.strip().splitlines()[-1] == "kerf: interrupted: nothing was written"
    assert [p.name for p in tmp_path.iterdir()] == ["big.csv"]


# A string literal with something like a flag in it: colours of the pages' style sheets are written alike.
FLAG_IN_LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*?(?<!var\()--(?:[a-z{]|")')


def test_the_library_knows_no_flags():
    """Its messages are read in Python and C++ too: options are named by spell() (kerf/core/spelling.h)."""
    assert FLAG_IN_LITERAL.search('"raise --lambda"') and FLAG_IN_LITERAL.search('("--" + name)') and not FLAG_IN_LITERAL.search('"var(--line)"')
    found = []
    for path in sorted([*ROOT.glob("kerf/**/*.cpp"), *ROOT.glob("kerf/**/*.h")]):
        if path.name.endswith("_test.cpp") or path.name == "spelling.cpp":
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if FLAG_IN_LITERAL.search(line.partition("//")[0]):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert not found, "\n".join(found)
