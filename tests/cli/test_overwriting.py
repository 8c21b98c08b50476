"""Outputs never take the place of what a command reads, or of one another; a file that is replaced keeps its rights."""
import os
import stat
import subprocess

import pytest

from conftest import DATA, PROGRAM

FIT = ["--map", "rff", "--features", "16", "--quiet"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes((DATA / "iris_train.csv").read_bytes())
    return path


def untouched(result, *paths):
    """Exit code 2, one line that names the file, and nothing else in its place."""
    assert result.code == 2 and result.err.count("\n") == 1, (result.code, result.out, result.err)
    assert any(str(path) in result.err for path in paths), result.err


NAMES = {"as it is": lambda t: "in.csv", "by another way": lambda t: f"../{t.parent.name}/in.csv", "whole": str}


@pytest.mark.parametrize("name", NAMES)
def test_a_fit_does_not_overwrite_its_data(kerf, table, name):
    before = table.read_bytes()
    output = NAMES[name](table)
    untouched(kerf("fit", "in.csv", "-o", output, *FIT), output)
    assert table.read_bytes() == before


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_nor_through_links(kerf, table, tmp_path, link):
    link(table, tmp_path / "other.csv")
    before = table.read_bytes()
    untouched(kerf("fit", "in.csv", "-o", "other.csv", *FIT), "other.csv")
    untouched(kerf("fit", "other.csv", "-o", "in.csv", *FIT), "in.csv")
    assert table.read_bytes() == before


def test_every_pair_of_files(kerf, table, model, tmp_path):
    (tmp_path / "test.csv").write_bytes(table.read_bytes())
    (tmp_path / "labels.txt").write_text("1\n2\n")
    (tmp_path / "net.json").write_text('{"columns": 4, "layers": [{"activation": "relu"}]}')
    (tmp_path / "rows.npy").write_bytes(b"rows")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.csv").write_bytes(table.read_bytes())
    (tmp_path / "train-images-idx3-ubyte").write_bytes(b"images")
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(b"labels")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for output, *command in [
        ("new.html", "fit", "in.csv", "-o", "new.html", "--report", "new.html"),  # not there yet
        ("in.csv", "fit", "in.csv", "--report", "in.csv"),
        ("test.csv", "fit", "in.csv", "--test", "test.csv", "-o", "test.csv"),
        ("test.csv", "fit", "in.csv", "--test", "test.csv", "--report", "test.csv"),
        ("labels.txt", "fit", "in.csv", "--labels", "labels.txt", "-o", "labels.txt"),
        ("labels.txt", "fit", "in.csv", "--test", "test.csv", "--test-labels", "labels.txt", "-o", "labels.txt"),
        ("net.json", "fit", "in.csv", "--map", "skeleton", "--skeleton", "net.json", "-o", "net.json"),
        ("folder/a.csv", "fit", "folder", "-o", "folder/a.csv"),
        ("train-labels-idx1-ubyte", "fit", "train-images-idx3-ubyte", "-o", "train-labels-idx1-ubyte"),
        ("sums/state.ckpt", "fit", "in.csv", "--checkpoint", "sums", "-o", "sums/state.ckpt"),
        ("iris.kerf", "refit", "iris.kerf", "--checkpoint", "sums", "-o", "iris.kerf"),
        ("iris.kerf", "predict", "iris.kerf", "in.csv", "-o", "iris.kerf"),
        ("in.csv", "predict", "iris.kerf", "in.csv", "-o", "in.csv"),
        ("rows.npy", "transform", "rows.npy", "--map", "rff", "-o", "rows.npy"),
        ("in.csv", "transform", "in.csv", "--model", "iris.kerf", "-o", "in.csv"),
        ("rows.npy", "kernel", "rows.npy", "-o", "rows.npy"),
        ("rows.npy", "kernel", "in.csv", "--against", "rows.npy", "-o", "rows.npy"),
        ("in.csv", "select", "in.csv", "--map", "rff", "-o", "in.csv"),
        ("in.csv", "diagnose", "in.csv", "--report", "in.csv"),
        ("in.csv", "plan", "in.csv", "--epsilon", "0.5", "--report", "in.csv"),
        ("test.csv", "compare", "in.csv", "--test", "test.csv", "--report", "test.csv"),
        ("net.json", "skeleton", "show", "net.json", "-o", "net.json"),
    ]:
        untouched(kerf(*command), output)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_standard_input_is_read_too(table):
    with open(table) as rows:
        done = subprocess.run([PROGRAM, "fit", "-", "-o", "in.csv", *FIT], stdin=rows, capture_output=True, text=True, cwd=table.parent)
    assert done.returncode == 2 and "in.csv" in done.stderr


def test_devices_are_no_files(kerf, table):
    assert kerf("fit", "in.csv", "-o", "/dev/null", "--report", "/dev/null", *FIT).code == 0
    fitted = kerf("fit", "in.csv", "-o", "m.kerf", *FIT)
    assert fitted.code == 0
    assert kerf("predict", "m.kerf", "in.csv", "-o", "/dev/stdout").out.count("\n") > 100
    assert kerf("predict", "m.kerf", "/dev/stdin", "-o", "p.txt", stdin=table.read_text()).code == 0


@pytest.mark.parametrize("rights", [0o600, 0o640, 0o444])
def test_a_model_that_is_replaced_keeps_its_rights(kerf, table, tmp_path, rights):
    model = tmp_path / "m.kerf"
    model.write_text("old")
    model.chmod(rights)
    assert kerf("fit", "in.csv", "-o", "m.kerf", *FIT).code == 0
    assert stat.S_IMODE(model.stat().st_mode) == rights
    assert model.read_bytes().startswith(b"KERFMODL")


def test_a_new_model_has_the_rights_of_the_umask(kerf, table, tmp_path):
    assert kerf("fit", "in.csv", "-o", "m.kerf", *FIT, umask=0o027).code == 0
    assert stat.S_IMODE((tmp_path / "m.kerf").stat().st_mode) == 0o640
