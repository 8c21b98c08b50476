"""Where results go: links, pipes, standard output, one JSON object; and readers that leave early."""
import os
import subprocess
import threading

import numpy as np
import pytest

from conftest import DATA, PROGRAM
from test_errors import check


def test_a_link_stays_and_its_file_is_written(kerf, model, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link.txt").symlink_to("there/real.txt")
    for _ in range(2):  # without a file behind it, then with one
        assert kerf("predict", model, DATA / "iris_test.csv", "-o", "link.txt").code == 0
        assert (tmp_path / "link.txt").is_symlink()
        assert len((tmp_path / "there" / "real.txt").read_text().splitlines()) == 30
    assert [p.name for p in (tmp_path / "there").iterdir()] == ["real.txt"]


def test_a_pipe_stays_and_is_written_to(kerf, model, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    seen = []
    reader = threading.Thread(target=lambda: seen.append((tmp_path / "pipe").read_text()), daemon=True)
    reader.start()
    assert kerf("predict", model, DATA / "iris_test.csv", "-o", "pipe").code == 0
    reader.join(timeout=60)
    assert len(seen[0].splitlines()) == 30 and (tmp_path / "pipe").is_fifo()
    # The name is checked before the work, and nobody reads: that must not wait.
    check(kerf("fit", "nowhere.csv", "-o", "pipe"), 1, ["nowhere.csv"])


def test_a_dash_is_standard_output_for_predict_only(kerf, model, tmp_path):
    assert kerf("predict", model, DATA / "iris_test.csv", "-o", "-").out == kerf("predict", model, DATA / "iris_test.csv").out
    for command in (["fit", DATA / "iris_train.csv"], ["kernel", DATA / "iris_train.csv"], ["transform", DATA / "iris_train.csv", "--map", "rff"]):
        check(kerf(*command, "-o", "-"), 2, ["standard output", "predict"])
    assert not (tmp_path / "-").exists()


def test_predictions_in_one_json_object(kerf, model):
    rows = DATA / "iris_test.csv"
    classes = kerf("predict", model, rows, "--json").json
    assert classes["rows"] == 30 and classes["predictions"] == kerf("predict", model, rows).out.split()
    shares = kerf("predict", model, rows, "--json", "--probability").json
    assert shares["classes"] == ["setosa", "versicolor", "virginica"]
    assert all(len(row) == 3 and sum(row) == pytest.approx(1) for row in shares["predictions"])
    assert set(kerf("predict", model, rows, "--json", "-o", "p.txt").json) == {"rows", "output"}
    assert kerf("fit", DATA / "diabetes_train.csv", "-o", "d.kerf", "--map", "rff", "--features", "32", "--quiet").code == 0
    numbers = kerf("predict", "d.kerf", DATA / "diabetes_test.csv", "--json").json["predictions"]
    assert numbers == [float(line) for line in kerf("predict", "d.kerf", DATA / "diabetes_test.csv").out.split()]


def test_a_reader_that_leaves_ends_the_program_in_silence(model, tmp_path):
    rows = (DATA / "iris_test.csv").read_text().splitlines()[1:]
    (tmp_path / "many.csv").write_text("\n".join(rows * 2000) + "\n")
    for arguments in (["maps", "--json"], ["predict", model, tmp_path / "many.csv"]):
        program = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        program.stdout.readline()
        program.stdout.close()
        assert program.stderr.read() == ""
        program.wait(timeout=60)
        assert program.returncode in ((0, 141) if arguments[0] == "maps" else (141,))  # maps may fit into the pipe


def test_matrices_as_npy_or_csv(kerf, tmp_path):
    data = [DATA / "iris_train.csv", "--target", "species"]
    for command in (["transform", *data, "--map", "rff", "--features", "16"], ["kernel", *data, "--kernel", "gaussian"]):
        assert kerf(*command, "-o", "z.npy").code == 0 and kerf(*command, "-o", "z.csv").code == 0
        assert np.array_equal(np.loadtxt(tmp_path / "z.csv", delimiter=",", dtype=np.float32), np.load(tmp_path / "z.npy"))
        check(kerf(*command, "-o", "z.txt"), 2, ["z.txt", ".npy", ".csv"])
