"""What predictions look like: names of columns, a column that names rows, formats by the name of the file."""
import csv
import io

import numpy as np
import pytest

from conftest import DATA


def table(path, rows=60, header=True, id_first=False, target=True, words=None, seed=1):
    """a, b, c, y = a + b; in front, if wanted, a column of keys that look like numbers."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 3)).round(4)
    names = ["key"] * id_first + ["a", "b", "c"] + ["y"] * target
    with open(path, "w") as file:
        if header:
            file.write(",".join(names) + "\n")
        for i, row in enumerate(x.tolist()):
            y = repr(row[0] + row[1]) if words is None else words[int(row[0] > 0)]
            file.write(",".join([f"{i:05d}"] * id_first + [repr(v) for v in row] + [y] * target) + "\n")
    return [f"{i:05d}" for i in range(rows)]


def cells(result, delimiter=","):
    assert result.code == 0, result.err
    return list(csv.reader(io.StringIO(result.out), delimiter=delimiter))


@pytest.fixture
def fitted(kerf, tmp_path):
    table(tmp_path / "train.csv", 80, seed=3)
    assert kerf("fit", "train.csv", "--map", "rff", "--features", "32", "--variance", "--intervals", "conformal").code == 0
    return kerf


def test_an_unknown_column_names_rows_as_it_is_written(fitted, tmp_path):
    keys = table(tmp_path / "new.csv", id_first=True)
    plain = fitted("predict", "model.kerf", "new.csv").out.split()
    found = cells(fitted("predict", "model.kerf", "new.csv", "--id", "key"))
    assert [row[0] for row in found] == keys and [row[1] for row in found] == plain
    assert fitted("predict", "model.kerf", "new.csv", "--id", "0").out == fitted("predict", "model.kerf", "new.csv", "--id", "key").out
    titled = cells(fitted("predict", "model.kerf", "new.csv", "--id", "key", "--names", "--variance", "--interval", "0.9"))
    assert titled[0] == ["key", "y", "y_variance", "y_lower", "y_upper"] and [row[0] for row in titled[1:]] == keys
    assert fitted("predict", "model.kerf", "new.csv", "--id", "key", "--names", "-o", "p.csv").code == 0
    assert (tmp_path / "p.csv").read_text() == fitted("predict", "model.kerf", "new.csv", "--id", "key", "--names").out
    fitted("predict", "model.kerf", "new.csv", "--id", "key", "-o", "p.tsv")
    assert (tmp_path / "p.tsv").read_text().splitlines()[3].split("\t") == found[3]
    json = fitted("predict", "model.kerf", "new.csv", "--id", "key", "--names", "--interval", "0.9", "--json").json
    assert json["ids"] == keys and json["columns"] == ["y", "y_lower", "y_upper"] and len(json["predictions"]) == 60
    piped = fitted("predict", "model.kerf", "-", "--id", "key", stdin=(tmp_path / "new.csv").read_text())
    assert cells(piped) == found


def test_a_column_that_the_model_knows_names_rows_too(kerf, tmp_path):
    keys = table(tmp_path / "t.csv", id_first=True)
    kerf("fit", "t.csv", "--drop", "key", "--map", "rff", "--features", "32")
    assert [row[0] for row in cells(kerf("predict", "model.kerf", "t.csv", "--id", "key"))] == keys
    found = cells(kerf("predict", "model.kerf", "t.csv", "--id", "y", "--names"))
    assert found[0] == ["y", "predicted_y"]  # the truth beside the prediction
    lines = (tmp_path / "t.csv").read_text().splitlines()[1:]
    assert [row[0] for row in found[1:]] == [line.split(",")[-1] for line in lines]
    plain = kerf("predict", "model.kerf", "t.csv").out.split()
    assert [row[1] for row in cells(kerf("predict", "model.kerf", "t.csv", "--id", "a"))] == plain  # an input, still


def test_ids_stay_with_their_rows_across_blocks_and_files(fitted, tmp_path):
    keys = table(tmp_path / "long.csv", 30000, id_first=True)
    found = cells(fitted("predict", "model.kerf", "long.csv", "long.csv", "--id", "key"))
    assert [row[0] for row in found] == keys * 2
    assert [row[1] for row in found] == fitted("predict", "model.kerf", "long.csv", "long.csv").out.split()


def test_without_names_columns_are_counted(kerf, tmp_path):
    table(tmp_path / "t.csv", header=False)
    kerf("fit", "t.csv", "--map", "rff", "--features", "32")
    keys = table(tmp_path / "new.csv", header=False, id_first=True)
    plain = kerf("predict", "model.kerf", "t.csv").out.split()
    found = cells(kerf("predict", "model.kerf", "new.csv", "--id", "0", "--names"))
    assert found[0] == ["id", "prediction"] and found[1:] == [list(pair) for pair in zip(keys, plain)]
    # Four columns: a, b, c and the target, or the key, a, b and c?
    table(tmp_path / "short.csv", header=False, id_first=True, target=False)
    doubt = kerf("predict", "model.kerf", "short.csv", "--id", "0")
    assert doubt.code == 2 and "header" in doubt.err
    # A model that dropped the column knows.
    kerf("fit", "new.csv", "--drop", "0", "--map", "rff", "--features", "32", "-o", "k.kerf")
    assert [row[0] for row in cells(kerf("predict", "k.kerf", "short.csv", "--id", "0"))] == keys
    # The inputs alone, of a model that dropped two columns, and the key behind them.
    lines = (tmp_path / "t.csv").read_text().splitlines()
    (tmp_path / "wide.csv").write_text("".join(f"{i},7,{line}\n" for i, line in enumerate(lines)))
    kerf("fit", "wide.csv", "--drop", "0,1", "--map", "rff", "--features", "32", "-o", "w.kerf")
    inputs = [line.rsplit(",", 1)[0] for line in lines]
    (tmp_path / "inputs.csv").write_text("".join(f"{line}\n" for line in inputs))
    (tmp_path / "behind.csv").write_text("".join(f"{line},{key}\n" for line, key in zip(inputs, keys)))
    found = cells(kerf("predict", "w.kerf", "behind.csv", "--id", "-1"))
    assert found == [list(pair) for pair in zip(keys, kerf("predict", "w.kerf", "inputs.csv").out.split())]


def test_words_of_a_table_are_marked_where_they_must_be(kerf, tmp_path):
    table(tmp_path / "t.csv", words=('small, "old"', "large"))
    text = (tmp_path / "t.csv").read_text().replace('small, "old"', '"small, ""old"""')
    (tmp_path / "t.csv").write_text(text)
    kerf("fit", "t.csv", "--map", "rff", "--features", "32")
    lines = kerf("predict", "model.kerf", "t.csv").out.splitlines()
    assert set(lines) == {'small, "old"', "large"}  # a line each, as they are
    kerf("predict", "model.kerf", "t.csv", "-o", "p.csv")
    assert [row[0] for row in csv.reader(open(tmp_path / "p.csv", newline=""))] == lines
    found = cells(kerf("predict", "model.kerf", "t.csv", "--id", "a", "--names", "--probability"))
    assert found[0] == ["a", "y=large", 'y=small, "old"']


def test_what_cannot_be_had_is_refused(fitted, tmp_path):
    table(tmp_path / "new.csv", id_first=True)
    wrong = fitted("predict", "model.kerf", "new.csv", "--id", "kay")
    assert wrong.code == 2 and "did you mean 'key'" in wrong.err and "--id" in wrong.err
    array = fitted("predict", "model.kerf", "new.csv", "--id", "key", "-o", "p.npy")
    assert array.code == 2 and ".csv" in array.err and not (tmp_path / "p.npy").exists()
    for name in ("p.csv.gz", "p.parquet", "p.json"):
        assert fitted("predict", "model.kerf", "new.csv", "-o", name).code == 2
    fitted("fit", DATA / "digits_train.csv.gz", "--image", "8x8x1", "--map", "rff", "--features", "16", "-o", "d.kerf")
    assert fitted("predict", "d.kerf", DATA / "digits_test.csv.gz", "--id", "digit", "--rows", "3").code == 0  # a table of pixels
    np.save(tmp_path / "x.npy", np.zeros((4, 8, 8, 1), np.uint8))
    np.save(tmp_path / "l.npy", np.array([0, 1, 0, 1]))
    fitted("fit", "x.npy", "--labels", "l.npy", "--task", "classification", "--map", "rff", "--features", "4", "--lambda", "1", "-o", "i.kerf")
    images = fitted("predict", "i.kerf", "x.npy", "--id", "0")
    assert images.code == 2 and "tables" in images.err


def test_info_names_columns(kerf, tmp_path):
    rng = np.random.default_rng(5)
    (tmp_path / "t.csv").write_text("key,size,colour,w,price\n" + "".join(
        f"{i},{rng.normal():.4f},{('red', 'green', 'blue')[i % 3]},{1 + i % 2},{rng.normal():.4f}\n" for i in range(60)))
    kerf("fit", "t.csv", "--drop", "key", "--weights", "w", "--map", "rff", "--features", "32")
    info = kerf("info", "model.kerf", "--json").json
    assert info["inputs"] == [{"name": "size", "kind": "numbers"}, {"name": "colour", "kind": "words", "levels": ["blue", "green", "red"]}]
    assert info["target"] == ["price"] and info["dropped"] == ["key"] and info["weight"] == ["w"] and info["missing"] == "error"
    text = kerf("info", "model.kerf").out
    for words in ("numbers   size", "words     colour: blue, green, red", "target    price", "dropped   key", "weight    w", "quality"):
        assert words in text, words


def test_info_of_many_columns_is_short(kerf, tmp_path):
    rng = np.random.default_rng(6)
    np.savetxt(tmp_path / "t.csv", rng.normal(size=(50, 41)), delimiter=",", header=",".join(f"c{j}" for j in range(41)), comments="")
    kerf("fit", "t.csv", "--target", "c40,c3", "--map", "rff", "--features", "16")
    text = kerf("info", "model.kerf").out
    assert "and 19 more" in text and "c39" not in text and "target    c40, c3" in text  # in the order of the outputs
    assert "c39" in kerf("info", "model.kerf", "-v").out
    assert len(kerf("info", "model.kerf", "--json").json["inputs"]) == 39
