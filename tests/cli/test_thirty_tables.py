"""Tables as people have them: each trains with defaults, or ends with one message that names the option which mends it, and that option works."""
import datetime
import random

import pytest

ROWS = 48


def table(columns, header=True, delimiter=",", end="\n"):
    """Text of a table of columns: name -> function of the row number that gives a cell."""
    rows = [list(columns)] if header else []
    rows += [[cell(i) for cell in columns.values()] for i in range(ROWS)]
    return "".join(delimiter.join(row) + end for row in rows)


def number(seed, low=0.0, high=10.0):
    draw = random.Random(seed)
    values = [draw.uniform(low, high) for _ in range(ROWS)]
    return lambda i: f"{values[i]:.3f}"


def comma(seed, low=0.0, high=10.0):
    plain = number(seed, low, high)
    return lambda i: plain(i).replace(".", ",")


def german(i):
    return f"{1000 + 37.5 * i:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".")


def day(form, step=5, first=datetime.datetime(2023, 1, 3, 8, 30)):
    return lambda i: (first + datetime.timedelta(days=step * i, hours=i)).strftime(form)


def some(words, otherwise):
    """`words` in every fifth row."""
    return lambda i: words[i // 5 % len(words)] if i % 5 == 3 else otherwise(i)


def pick(*words):
    return lambda i: words[(i * 7 + i // 3) % len(words)]


A, B, Y = number(1), number(2), number(3, 0, 5)


def beside(cell, **more):
    """A column x beside two of numbers and the target."""
    return table({"a": A, "x": cell, **more, "y": Y})


TRAIN = [  # name, text, what the program says of it
    ("plain numbers", beside(B), "48 rows, 2 columns"),
    ("no header", table({"a": A, "b": B, "y": Y}, header=False), "no header"),
    ("mark and Windows lines", "\ufeff" + table({"a": A, "x": B, "y": Y}, end="\r\n"), "2 columns"),
    ("words", beside(pick("red", "green", "blue")), "4 columns"),
    ("truth", beside(pick("True", "False")), "3 columns"),
    ("thousands", beside(lambda i: f'"{1000 + 137.5 * i:,.2f}"'), "'x' has marks between thousands: read as numbers"),
    ("dollars", beside(lambda i: f'"${900 + 37.5 * i:,.2f}"'), "'x' holds amounts in $"),
    ("losses in brackets", beside(lambda i: f"(${i}.50)" if i % 3 else f"${i}.25"), "'x' holds amounts in $"),
    ("pounds among numbers", beside(lambda i: f"£{i}.5" if i % 4 else f"{i}"), "'x' holds amounts in £"),
    ("per cent", beside(lambda i: f"{i / 2} %"), "'x' holds amounts in %"),
    ("dates", beside(day("%Y-%m-%d")), "'x' holds dates: taken for numbers (day, weekday, month)"),
    ("dates and times", beside(day("%Y-%m-%d %H:%M:%S")), "(day, hour, weekday, month)"),
    ("times with a zone", beside(day("%Y-%m-%dT%H:%M:%S+02:00")), "'x' holds dates"),
    ("day before month", beside(day("%d/%m/%Y")), "'x' holds dates"),
    ("month before day", beside(day("%m/%d/%Y %I:%M %p")), "(day, hour, weekday, month)"),
    ("dates with points", beside(day("%d.%m.%Y")), "'x' holds dates"),
    ("names of months", beside(day("%d-%b-%Y")), "'x' holds dates"),
    ("months", beside(day("%Y-%m", step=20)), "'x' holds dates"),
    ("times of day", beside(day("%H:%M")), "'x' holds times of day: taken for numbers (hour)"),
    ("a delimiter at the end of every line", table({"a": A, "b": B, "y": Y}, end=",\n"), "2 columns"),
    ("one behind the rows alone", "a,b,y\n" + table({"a": A, "b": B, "y": Y}, header=False, end=",\n"), "2 columns"),
    ("empty columns of a spreadsheet", table({"a": A, "b": B, "y": Y}, end=",,,\r\n"), "2 columns"),
    ("row names of R", '"a" "b" "y"\n' + table({"": lambda i: f'"{i + 1}"', "a": A, "b": B, "y": Y}, header=False, delimiter=" "), "as R writes it"),
    ("names of rows that are words", "a,b,y\n" + table({"": lambda i: f"row {i}", "a": A, "b": B, "y": Y}, header=False), "as R writes it"),
    ("index of pandas", table({"": lambda i: str(i), "a": A, "y": Y}), "column 0 counts the rows: an ID? --drop 0 leaves it out"),
    ("number of a customer", table({"customer_id": lambda i: str(100000 + i * 7919 % 4801), "a": A, "y": Y}), "--drop customer_id leaves it out"),
    ("a name for each row", beside(lambda i: f"person {i}"), "an ID? --drop x leaves it out"),
    ("ages as target", table({"a": A, "b": B, "age": lambda i: str(23 + i % 9 + i % 5)}), "regression"),
    ("digits as target", table({"a": A, "b": B, "digit": lambda i: str(i % 4)}), "--task regression predicts numbers"),
    ("prices as target", table({"a": A, "b": B, "price": lambda i: f'"${1000 + 37 * i:,}"'}), "the target 'price' holds amounts in $"),
    ("two columns of one name", "a,a,y\n" + table({"a": A, "b": B, "y": Y}, header=False), "2 columns"),
    ("lines within cells", beside(lambda i: f'"first\nsecond {i % 3}"'), "4 columns"),
]

MEND = [  # name, text, what the message says, the options in it that mend the table
    ("decimal commas", table({"a": comma(1), "x": comma(2), "y": comma(3)}, delimiter=";"), "has a decimal comma", ["--decimal", ","]),
    ("decimal commas and thousands", table({"a": comma(1), "x": german, "y": comma(3)}, delimiter=";"), "has a decimal comma", ["--decimal", ","]),
    ("euros", table({"a": comma(1), "x": lambda i: german(i) + " €", "y": comma(3)}, delimiter=";"), "has a decimal comma", ["--decimal", ","]),
    ("thousands or decimals", beside(lambda i: f'"{1 + i % 9},{125 + i}"'), "may be thousands or a decimal comma", ["--decimal", "."]),
    ("decimals or thousands", beside(lambda i: f'"{1 + i % 9},{125 + i}"'), "may be thousands or a decimal comma", ["--decimal", ","]),
    ("days or months", beside(lambda i: f"0{1 + i % 9}/0{1 + i // 6}/2024"), "no cell tells day from month", ["--dates", "dmy"]),
    ("N/A", beside(some(["N/A", "n/a", "#N/A"], B)), "the value of 'x' (9 such cells) is missing", ["--missing", "mean"]),
    ("empty cells", beside(some([""], B)), "the value of 'x' (9 such cells) is missing", ["--missing", "indicator"]),
    ("dashes and points", beside(some(["-", "."], B)), "is missing ('-')", ["--missing", "drop"]),
    ("dump of a database", beside(some(["\\N", "NULL"], B)), "is missing ('\\N')", ["--missing", "mean"]),
    ("None and NaT", beside(some(["None", "NaT"], day("%Y-%m-%d"))), "is missing ('None')", ["--missing", "indicator"]),
    ("a word for missing", beside(some(["unknown"], B)), "'unknown' in 'x', where the other cells are numbers", ["--na", "unknown", "--missing", "mean"]),
    ("words among codes", beside(some(["other"], lambda i: str(101 + i % 3))), "'other' in 'x', where the other cells are numbers", ["--categorical", "x"]),
    ("an empty column", beside(lambda i: "NA"), "all values of 'x' are missing", ["--drop", "x"]),
    ("a class called None", table({"a": A, "b": B, "kind": pick("None", "mild", "severe")}), "the value of 'kind' (16 such cells) is missing ('None')", ["--na", "="]),
    ("dollars and euros", beside(lambda i: f"${i}" if i % 2 else f"€{i}"), "different units", ["--drop", "x"]),
    ("a date as target", table({"a": A, "b": B, "when": day("%Y-%m-%d")}), "the target 'when' holds dates or times", ["--target", "b"]),
    ("marks with a comma as target", table({"a": comma(1), "y": comma(2)}, delimiter=";"), "has a decimal comma", ["--decimal", ","]),
]


@pytest.mark.parametrize("text, says", [case[1:] for case in TRAIN], ids=[case[0] for case in TRAIN])
def test_trains(kerf, tmp_path, text, says):
    (tmp_path / "t.csv").write_bytes(text.encode())
    result = kerf("fit", "t.csv", "-o", "m.kerf")
    assert result.code == 0, result.err
    assert says in result.out, result.out
    assert kerf("score", "m.kerf", "t.csv").code == 0
    predicted = kerf("predict", "m.kerf", "t.csv")
    assert predicted.code == 0 and len(predicted.out.splitlines()) == ROWS, predicted.err


@pytest.mark.parametrize("text, says, options", [case[1:] for case in MEND], ids=[case[0] for case in MEND])
def test_is_mended(kerf, tmp_path, text, says, options):
    (tmp_path / "t.csv").write_bytes(text.encode())
    refused = kerf("fit", "t.csv", "-o", "m.kerf")
    assert refused.code == 1 and refused.err.count("\n") == 1, refused.err
    assert says in refused.err, refused.err
    for option, value in zip(options[::2], options[1::2]):
        assert option in refused.err and (option == "--target" or value in refused.err), refused.err
    result = kerf("fit", "t.csv", "-o", "m.kerf", *options)
    assert result.code == 0, result.err
    predicted = kerf("predict", "m.kerf", "t.csv")
    assert predicted.code == 0 and len(predicted.out.splitlines()) == ROWS, predicted.err


def test_all_bad_columns_are_in_one_message(kerf, tmp_path):
    (tmp_path / "t.csv").write_text(table({"a": some([""], A), "when": lambda i: f"0{1 + i % 9}/0{1 + i // 6}/2024",
                                           "amount": lambda i: f'"{1 + i % 9},{125 + i}"', "code": some(["x7"], B), "none": lambda i: "", "y": Y}))
    refused = kerf("fit", "t.csv", "-o", "m.kerf")
    assert refused.code == 1 and refused.err.count("\n") == 1, refused.err
    for words in ("5 things", "'a'", "--missing mean", "'when'", "--dates dmy", "'amount'", "--decimal .", "'code'", "--na x7", "'none'", "--drop none"):
        assert words in refused.err, refused.err
    mended = kerf("fit", "t.csv", "-o", "m.kerf", "--missing", "mean", "--dates", "dmy", "--decimal", ".", "--na", "x7", "--drop", "none")
    assert mended.code == 0, mended.err


def test_names_that_occur_twice_are_refused_when_asked_for(kerf, tmp_path):
    (tmp_path / "t.csv").write_text("a,a,b\n" + table({"a": A, "b": B, "y": Y}, header=False))
    for option in ("--target", "--drop", "--categorical", "--weights"):
        refused = kerf("fit", "t.csv", "-o", "m.kerf", option, "a")
        assert refused.code == 2 and "columns 0 and 1 are both called 'a': name them by their numbers" in refused.err, refused.err
    assert kerf("fit", "t.csv", "-o", "m.kerf", "--target", "1").code == 0


def test_suggestions_fit(kerf, tmp_path):
    (tmp_path / "t.csv").write_text(table({"x": A, "z": B, "y": Y}))
    assert "did you mean 'y'?" in kerf("fit", "t.csv", "-o", "m.kerf", "--target", "Y").err
    assert "did you mean" not in kerf("fit", "t.csv", "-o", "m.kerf", "--target", "q").err
