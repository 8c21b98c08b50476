"""Names from files and models on a terminal: shown, never obeyed.  As data they stay what they are."""
import json
import os
import pty
import subprocess

import pytest

from conftest import PROGRAM

CAT, DOG = "\x1b]0;owned\x07cat", "dog\x7f\u009b31m"


@pytest.fixture
def named(kerf, tmp_path):
    rows = "".join(f"{i % 7}.5,{i},{CAT if i % 2 else DOG}\n" for i in range(60))
    (tmp_path / "t.csv").write_text("a\x1b[2Jb,c,y\n" + rows)
    result = kerf("fit", "t.csv", "-o", "m.kerf", "--map", "rff", "--features", "16")
    assert result.code == 0, result.err
    return result


def clean(text):
    return not any(ord(c) < 32 and c != "\n" or 127 <= ord(c) < 160 for c in text)


def test_people_see_escapes(kerf, named):
    for result in [named, kerf("info", "m.kerf"), kerf("score", "m.kerf", "t.csv", "--worst", "3"), kerf("info", "no\x1b[31m.kerf")]:
        assert clean(result.out) and clean(result.err), (result.out, result.err)
    assert "\\x1b]0;owned\\x07cat" in kerf("info", "m.kerf").out
    assert "\\x1b]0;owned\\x07cat" in kerf("score", "m.kerf", "t.csv").out


def test_programs_read_the_names(kerf, named, tmp_path):
    for result in [kerf("info", "m.kerf", "--json"), kerf("score", "m.kerf", "t.csv", "--json")]:
        assert clean(result.out) and set(json.loads(result.out)["classes"]) == {CAT, DOG}
    predicted = kerf("predict", "m.kerf", "t.csv").out.split("\n")[:-1]
    assert len(predicted) == 60 and set(predicted) <= {CAT, DOG}
    assert set(kerf("predict", "m.kerf", "t.csv", "--json").json["predictions"]) <= {CAT, DOG}


def test_a_terminal_does_not_obey_predictions(named, tmp_path):
    ours, theirs = pty.openpty()
    done = subprocess.Popen([PROGRAM, "predict", "m.kerf", "t.csv"], stdout=theirs, cwd=tmp_path)
    os.close(theirs)
    text = b""
    try:
        while part := os.read(ours, 65536):
            text += part
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert done.wait(60) == 0
    assert b"cat" in text and clean(text.decode().replace("\r", "")), text[:200]
