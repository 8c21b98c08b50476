"""Data files as people have them: other files beside the training ones, names, numbers of rows, standard input."""
import io
import json
import os
import signal
import struct
import subprocess
import time
import zlib

import numpy as np
import pytest

from conftest import DATA, PROGRAM


def table(rows, columns=3, seed=0):
    x = np.random.default_rng(seed).normal(size=(rows, columns))
    return x, x[:, 0] - 2 * x[:, 1]


def write_csv(path, x, y=None):
    np.savetxt(path, x if y is None else np.column_stack([x, y]), delimiter=",", fmt="%.6f")


FIT = ["--map", "rff", "--features", "64"]


def test_labels_and_rows_are_of_the_training_file(kerf, tmp_path):
    x, y = table(200)
    write_csv(tmp_path / "x.csv", x)
    np.savetxt(tmp_path / "y.txt", y)
    write_csv(tmp_path / "tx.csv", x[::-1])
    np.savetxt(tmp_path / "ty.txt", y[::-1])
    result = kerf("fit", "x.csv", "--labels", "y.txt", "--test", "tx.csv", *FIT)
    assert result.code == 2 and "--test-labels" in result.err
    result = kerf("fit", "x.csv", "--labels", "y.txt", "--test", "tx.csv", "--test-labels", "ty.txt", *FIT, "--json")
    assert result.json["test"]["r2"] > 0.9
    result = kerf("compare", "x.csv", "--labels", "y.txt", "--test", "tx.csv", "--test-labels", "ty.txt", "--maps", "rff", "--features", "64",
                  "--seeds", "1", "--json")
    assert result.code == 0 and result.json["results"][0]["by_seed"][0]["r2"] > 0.9, result.err
    assert kerf("fit", "x.csv", "--labels", "y.txt", "--test-labels", "ty.txt", *FIT).code == 2
    write_csv(tmp_path / "train.csv", x, y)
    write_csv(tmp_path / "test.csv", x, y)
    result = kerf("fit", "train.csv", "--rows", "100", "--test", "test.csv", *FIT, "--json")
    assert (result.json["rows"], result.json["test"]["rows"]) == (100, 200)
    assert kerf("kernel", "x.csv", "--target", "none", "--rows", "5", "--against", "x.csv", "--kernel", "gaussian", "-o", "K.npy").code == 0
    assert np.load(tmp_path / "K.npy").shape == (5, 200)


def test_names_that_are_not_utf8(kerf, tmp_path):
    x, y = table(60)
    write_csv(tmp_path / "g.csv", x, y)
    name = b"mod\xe8le.kerf"
    for more in ([], ["--json"]):
        done = subprocess.run([PROGRAM.encode() if isinstance(PROGRAM, str) else bytes(PROGRAM), b"fit", b"g.csv", b"-o", name,
                               *[a.encode() for a in FIT + more]], cwd=tmp_path, capture_output=True)
        assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["model"].startswith("mod")
    assert os.path.exists(os.path.join(os.fsencode(tmp_path), name))
    done = subprocess.run([str(PROGRAM).encode(), b"score", b"n\xff.kerf", b"g.csv", b"--json"], cwd=tmp_path, capture_output=True)
    assert done.returncode == 1 and "error" in json.loads(done.stdout)


def test_what_nohup_asks_for(tmp_path):
    x, y = table(4000, 20)
    write_csv(tmp_path / "g.csv", x, y)
    command = f"trap '' HUP; exec {PROGRAM} fit g.csv --map rff --features 2048 --solver cholesky -o m.kerf"
    with subprocess.Popen(["bash", "-c", command], cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
        time.sleep(0.3)
        process.send_signal(signal.SIGHUP)
    assert process.returncode == 0 and (tmp_path / "m.kerf").exists()


def with_holes(tmp_path, rows=40, holes=(2, 3, 10)):
    x, y = table(rows)
    lines = ["a,b,c,y"] + [",".join(["" if i in holes else f"{x[i, 0]:.6f}", f"{x[i, 1]:.6f}", f"{x[i, 2]:.6f}", f"{y[i]:.6f}"])
                           for i in range(rows)]
    lines[1 + 20] = "100,100,100,5000"  # the row that stands out
    (tmp_path / "h.csv").write_text("\n".join(lines) + "\n")


def test_rows_keep_their_numbers(kerf, tmp_path):
    with_holes(tmp_path)
    result = kerf("select", "h.csv", "--target", "y", "--missing", "drop", "--map", "rff", "--features", "64", "--budget", "37", "-o", "rows.txt")
    assert result.code == 0, result.err
    assert sorted(map(int, (tmp_path / "rows.txt").read_text().split())) == [i for i in range(40) if i not in (2, 3, 10)]
    kerf("fit", "h.csv", "--missing", "drop", *FIT, "--rows", "15", "-o", "m.kerf")
    worst = kerf("score", "m.kerf", "h.csv", "--json").json["worst"]
    assert worst[0]["row"] == 20


def test_held_out_rows_keep_their_numbers(kerf, tmp_path):
    x, y = table(300)
    y[::7] += 1000 * (1 + np.arange(len(y[::7])))
    write_csv(tmp_path / "g.csv", x, y)
    result = kerf("fit", "g.csv", *FIT, "--holdout", "0.3", "--report", "r.html", "--json")
    rows = [(w["row"], w["target"]) for w in result.json["holdout"]["worst"]]
    assert rows and all(abs(y[row] - target) < 1e-3 for row, target in rows)


def test_shapes_that_no_memory_holds(kerf, tmp_path):
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 100000000), }"
    text = header.ljust(117) + "\n"
    (tmp_path / "wide.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode())
    for command in (["fit", "wide.npy"], ["kernel", "wide.npy", "-o", "K.npy"]):
        result = kerf(*command)
        assert result.code == 1 and "no rows" in result.err
    x, _ = table(2000, 100)
    np.save(tmp_path / "x.npy", x)
    result = kerf("kernel", "x.npy", "--target", "none", "--kernel", "gaussian", "--memory", "1M", "-o", "K.npy")
    assert result.code == 1 and "hold the rows" in result.err and "--memory" in result.err


def test_a_line_of_many_cells(kerf, tmp_path):
    """The head that the dialect is found in is not cut into strings five times."""
    (tmp_path / "w.csv").write_text(("1;2,5;" * 700_000 + "3\n") * 3)
    result = subprocess.run(["bash", "-c", f"ulimit -v 3000000; exec {PROGRAM} predict m.kerf w.csv"], cwd=tmp_path, capture_output=True)
    assert result.returncode == 1
    (tmp_path / "t.tsv").write_text("\t".join(f"c{j},x" for j in range(150_000)) + "\n" + ("\t".join(["1.5"] * 150_000) + "\n") * 3)
    result = kerf("fit", "t.tsv", "--map", "arccos", "--features", "4", "--lambda", "1", "--task", "regression", "--json")
    assert result.code == 0 and result.json["columns"] == 149_999, result.err


def test_what_spreadsheets_write(kerf, tmp_path):
    (tmp_path / "e.csv").write_text("# made by hand\na,y\n" + "".join(f"{i},{i}.5\n" for i in range(20)) + "#N/A,3\n")
    result = kerf("fit", "e.csv", *FIT)
    assert result.code == 1 and "e.csv:23:1" in result.err and "#N/A" in result.err
    (tmp_path / "e.csv").write_text("a,y\n1,2\n# later\n3,4\n")
    result = kerf("fit", "e.csv", *FIT)
    assert result.code == 1 and "e.csv:3" in result.err and "comments" in result.err


def test_messages_name_the_file_of_a_sampled_row(kerf, tmp_path):
    (tmp_path / "a1.csv").write_text("1,2,3\n4,1e300,6\n7,8,9.5\n")
    (tmp_path / "b1.csv").write_text("1,2,3\n4,5,6\n7,8,9.5\n")
    result = kerf("fit", "a1.csv", "b1.csv", *FIT)
    assert result.code == 1 and "a1.csv:2" in result.err, result.err
    big = np.arange(30.0).reshape(10, 3)
    big[5, 1] = 1e300
    np.save(tmp_path / "big.npy", big)
    result = kerf("fit", "big.npy", *FIT)
    assert result.code == 1 and "big.npy[5, 1]" in result.err, result.err


def test_standard_input_from_where_it_stands(tmp_path, model):
    text = (DATA / "iris_test.csv").read_text().splitlines()
    (tmp_path / "two.csv").write_text("not this line\n" + "\n".join(text) + "\n")
    command = f"exec 0< two.csv; python3 -c 'import os; os.read(0, 14)'; exec {PROGRAM} predict iris.kerf -"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == len(text) - 1, done.stderr


def test_errors_of_the_system_are_told(kerf, tmp_path):
    if os.getuid() != 0:
        (tmp_path / "closed").mkdir(mode=0)
        result = kerf("fit", "closed", "--json")
        assert result.code == 1 and "closed" in result.json["error"]
    for command in (["info", "nothing.kerf"], ["maps"]):
        result = kerf(*command, "--memory", "lots")
        assert result.code == 2 and "lots" in result.err


def test_a_full_disk_with_json(tmp_path, model):
    with open("/dev/full", "w") as full:
        done = subprocess.run([PROGRAM, "info", "iris.kerf", "--json"], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "standard output" in done.stderr


@pytest.mark.parametrize("command", [["transform", "--map", "rff"], ["kernel"]])
def test_npy_into_a_pipe_is_refused_at_once(kerf, tmp_path, command):
    os.mkfifo(tmp_path / "pipe")
    result = kerf(command[0], "no-such-file.csv", *command[1:], "-o", "pipe")
    assert result.code == 1 and "npy" in result.err, result.err


def test_weights_of_a_score(kerf, tmp_path):
    x, y = table(80)
    rows = "".join(f"{a:.5f},{b:.5f},{t:.5f},{i % 3}\n" for i, ((a, b, _), t) in enumerate(zip(x, y)))
    (tmp_path / "w.csv").write_text("a,b,y,w\n" + rows)
    kerf("fit", "w.csv", "--target", "y", "--weights", "w", *FIT, "--rows", "40", "-o", "m.kerf")
    repeated = [line for line in rows.splitlines() for _ in range(int(line[-1]))]
    (tmp_path / "r.csv").write_text("a,b,y,w\n" + "\n".join(repeated) + "\n")
    plain = kerf("score", "m.kerf", "w.csv", "--json").json
    weighed = kerf("score", "m.kerf", "w.csv", "--weights", "w", "--json").json
    same = kerf("score", "m.kerf", "r.csv", "--json").json
    assert "weight" not in plain and plain["mse"] != pytest.approx(same["mse"])
    assert (weighed["rows"], weighed["weight"]) == (80, len(repeated))
    for key in ("mse", "rmse", "r2", "relative_rmse"):
        assert weighed[key] == pytest.approx(same[key], rel=1e-9)
    # A column that the training rows did not have, and one that is an input.
    (tmp_path / "u.csv").write_text("a,b,y\n" + "".join(line.rsplit(",", 1)[0] + "\n" for line in rows.splitlines()))
    kerf("fit", "u.csv", *FIT, "--rows", "40", "-o", "u.kerf")
    assert kerf("score", "u.kerf", "w.csv", "--weights", "w", "--json").json["weight"] == len(repeated)
    assert kerf("score", "u.kerf", "w.csv", "--weights", "a").code == 2
    assert kerf("score", "u.kerf", "w.csv", "--weights", "z").code == 2


def test_weights_of_a_score_of_classes(kerf, tmp_path, model):
    lines = (DATA / "iris_test.csv").read_text().splitlines()
    (tmp_path / "w.csv").write_text("\n".join([lines[0] + ",w"] + [f"{line},{1 + i % 2}" for i, line in enumerate(lines[1:])]) + "\n")
    repeated = [line for i, line in enumerate(lines[1:]) for _ in range(1 + i % 2)]
    (tmp_path / "r.csv").write_text("\n".join([lines[0], *repeated]) + "\n")
    weighed = kerf("score", "iris.kerf", "w.csv", "--weights", "w", "--json").json
    same = kerf("score", "iris.kerf", "r.csv", "--json").json
    assert weighed["confusion"] == same["confusion"]
    for key in ("accuracy", "log_loss"):
        assert weighed[key] == pytest.approx(same[key], rel=1e-9) or weighed[key] == same[key]


@pytest.mark.parametrize("label", ["-1", "1", "+1"])
def test_a_negative_index_of_libsvm_makes_no_table(kerf, tmp_path, label):
    """Rows such as `1 -1:2` were read as a table of two columns of words."""
    (tmp_path / "t.svm").write_text(f"{label} -1:2\n0 2:3\n" * 20)
    result = kerf("fit", "t.svm", "--quiet")
    assert result.code == 1 and "an index is not negative" in result.err and result.err.startswith("kerf: t.svm:1:")


def zip64(members):
    """An npz as numpy writes it beyond 4 GB: the place of its directory stands in a record of its own."""
    body, directory = b"", b""
    for name, data in members.items():
        name, fields = name.encode(), struct.pack("<HHHHI", 0, 0, 0, 0, zlib.crc32(data))
        sizes = struct.pack("<QQ", len(data), len(data))
        directory += b"PK\1\2" + struct.pack("<HH", 45, 45) + fields + b"\xff" * 8 + struct.pack("<HH", len(name), 28) + bytes(10) + b"\xff" * 4
        directory += name + struct.pack("<HH", 1, 24) + sizes + struct.pack("<Q", len(body))
        body += b"PK\3\4" + struct.pack("<H", 45) + fields + b"\xff" * 8 + struct.pack("<HH", len(name), 20) + name + struct.pack("<HH", 1, 16) + sizes + data
    record = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, len(members), len(members), len(directory), len(body))
    locator = b"PK\6\7" + struct.pack("<IQI", 0, len(body) + len(directory), 1)
    return body + directory + record + locator + b"PK\5\6" + bytes(4) + b"\xff" * 12 + bytes(2)


def test_an_npz_whose_directory_is_of_the_large_form(kerf, tmp_path):
    rng = np.random.default_rng(4)
    members = {}
    for name, array in (("X", rng.normal(size=(40, 3))), ("y", rng.normal(size=40))):
        buffer = io.BytesIO()
        np.save(buffer, array)
        members[name + ".npy"] = buffer.getvalue()
    (tmp_path / "t.npz").write_bytes(zip64(members))
    result = kerf("fit", "t.npz", "--map", "rff", "--features", "16", "--json")
    assert result.code == 0, result.err
    assert result.json["rows"] == 40
