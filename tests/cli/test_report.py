"""The report of a fit: whole, self-contained, readable, and nothing of the data can break out of it."""
import html.parser
import shutil
import subprocess

import pytest

from conftest import DATA

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(html.parser.HTMLParser):
    """Fails on tags that do not close; collects tags and outside references."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.references, self.text = [], [], [], ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.references += [value for name, value in attributes if name in ("src", "href") and value != "data:,"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text += data


def report(kerf, tmp_path, *arguments):
    result = kerf("fit", *arguments, "-o", "m.kerf", "--report", "r.html")
    assert result.code == 0, result.err
    page = Page((tmp_path / "r.html").read_text())
    assert page.references == []
    return page


def test_classification_with_pictures_of_the_worst_rows(kerf, tmp_path):
    page = report(kerf, tmp_path, DATA / "digits_train.csv.gz", "--image", "8x8x1", "--map", "arccos", "--features", "64",
                  "--test", DATA / "digits_test.csv.gz")
    assert "Which classes are confused" in page.text and "predicted" in page.text and "Make it again" in page.text
    assert page.tags.count("svg") >= 3 and page.tags.count("table") == 5  # with the numbers of the chart


def test_regression_with_a_choice_of_kernels(kerf, tmp_path):
    page = report(kerf, tmp_path, DATA / "diabetes_train.csv", "--features", "128", "--holdout", "0.25")
    assert "Which kernel" in page.text and "How strong a penalty" in page.text and "r2" in page.text
    assert page.tags.count("circle") > 50


def test_without_test_rows_or_choice_of_lambda(kerf, tmp_path):
    page = report(kerf, tmp_path, DATA / "iris_train.csv", "--map", "rff", "--features", "64", "--lambda", "1e-3")
    assert ("the rows trained on" in page.text or "held out" in page.text) and "How strong a penalty" not in page.text


def test_names_from_the_data_are_text_and_nothing_else(kerf, tmp_path):
    evil = "<script>alert(1)</script>"
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{i % 7},{evil if i % 2 else 'b&b'}\n" for i in range(60)))
    report(kerf, tmp_path, "t.csv", "--map", "rff", "--features", "16", "--holdout", "0.3")
    text = (tmp_path / "r.html").read_text()
    assert evil not in text and "&lt;script&gt;" in text and text.count("<script>") == 1


def test_a_report_that_cannot_be_written_is_refused_before_the_work(kerf, tmp_path):
    result = kerf("fit", DATA / "iris_train.csv", "--report", "no/such/folder/r.html")
    assert result.code == 1 and not (tmp_path / "model.kerf").exists()


@pytest.mark.skipif(not shutil.which("chromium"), reason="no browser")
def test_a_browser_shows_it_without_complaints(kerf, tmp_path):
    report(kerf, tmp_path, DATA / "diabetes_train.csv", "--features", "64", "--holdout", "0.25")
    done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--window-size=375,800", "--dump-dom",
                           (tmp_path / "r.html").as_uri()], capture_output=True, text=True, timeout=100)
    assert "CONSOLE" not in done.stderr and "Which kernel" in done.stdout
