"""Columns as people have them, in frames: dates, text that is numbers, codes, words for missing values; the same models as the program's."""
import numpy as np
import pytest

import kerf

pandas = pytest.importorskip("pandas")

ROWS = 120


@pytest.fixture
def frame():
    rng = np.random.default_rng(1)
    when = pandas.Timestamp("2024-01-01 00:30") + pandas.to_timedelta(7 * np.arange(ROWS), unit="h")
    return pandas.DataFrame({"when": when, "code": rng.choice([101, 205, 300], ROWS), "size": rng.normal(size=ROWS).round(3),
                             "price": [f"${1000 + 13.5 * i:,.2f}" for i in range(ROWS)], "y": when.hour + rng.normal(size=ROWS).round(3)})


def fit(frame, **options):
    with pytest.warns(UserWarning):  # what the columns were taken for
        return kerf.KernelRidge(map="rff", features=64, lambda_=1e-3, **options).fit(frame.drop(columns="y"), frame["y"])


def test_dates_are_taken_for_numbers(frame):
    model = fit(frame)
    assert model.score(frame.drop(columns="y"), frame["y"]) > 0.9
    text = frame.assign(when=frame["when"].dt.strftime("%Y-%m-%d %H:%M"))
    assert (model.predict(text.drop(columns="y")) == model.predict(frame.drop(columns="y"))).all()
    assert (fit(text).predict(frame.drop(columns="y")) == model.predict(frame.drop(columns="y"))).all()
    objects = frame.assign(when=[value.to_pydatetime() for value in frame["when"]]).astype({"when": object})
    assert (model.predict(objects.drop(columns="y")) == model.predict(frame.drop(columns="y"))).all()
    with pytest.raises(ValueError, match="'when' should be a date"):
        model.predict(frame.assign(when=np.arange(ROWS)).drop(columns="y"))
    with pytest.raises(ValueError, match="zone"):
        model.predict(frame.assign(when=frame["when"].dt.tz_localize("Europe/Berlin")).drop(columns="y"))
    with pytest.raises(ValueError, match="'size' should be a finite number"):
        model.predict(frame.assign(size=frame["when"]).drop(columns="y"))


def test_lengths_of_time_and_dates_elsewhere_are_refused(frame):
    with pytest.raises(ValueError, match="total_seconds"):
        kerf.KernelRidge().fit(frame[["when"]].diff().iloc[1:], frame["y"].iloc[1:])
    with pytest.raises(ValueError, match="holds dates or times"):
        kerf.KernelRidge().fit(frame[["size"]], frame["when"])
    with pytest.raises(ValueError, match="or pass a frame"):
        kerf.KernelRidge().fit(frame[["when"]].to_numpy(), frame["y"])


def test_a_dtype_of_categories_stays_words(frame):
    model = fit(frame.assign(price=frame["price"].astype("category")))
    assert model._columns.inputs == 4 + 1 + 1 + ROWS


def test_numbers_may_be_codes(frame):
    by_name = fit(frame, categorical=["code"])
    assert by_name._columns.inputs == 4 + 3 + 1 + 1
    assert (fit(frame, categorical=1).predict(frame.drop(columns="y")) == by_name.predict(frame.drop(columns="y"))).all()
    floats = frame.astype({"code": float})
    assert (by_name.predict(floats.drop(columns="y")) == by_name.predict(frame.drop(columns="y"))).all()
    X, y = frame[["code", "size"]].to_numpy(), frame["y"]
    array = kerf.KernelRidge(map="rff", features=64, lambda_=1e-3, categorical=[-2]).fit(X, y)
    assert array._columns.inputs == 4
    assert (array.predict(X) == kerf.KernelRidge(map="rff", features=64, lambda_=1e-3, categorical="code").fit(frame[["code", "size"]], y).predict(frame[["code", "size"]])).all()
    for wrong in ("colour", 7, [-9]):
        with pytest.raises(ValueError, match="no such column"):
            kerf.KernelRidge(categorical=wrong).fit(X, y)


def test_missing_values(frame):
    X, y = frame[["code", "size"]].astype(float), frame["y"]
    X.iloc[::7, 1] = -999
    model = kerf.KernelRidge(map="rff", features=64, lambda_=1e-3, na=[-999], missing="indicator").fit(X, y)
    holes = X.replace(-999, np.nan)
    other = kerf.KernelRidge(map="rff", features=64, lambda_=1e-3, missing="indicator").fit(holes, y)
    assert model._columns.inputs == 3
    assert (model.predict(X) == other.predict(holes)).all()
    assert (model.predict(X.to_numpy(np.float32)) == model.predict(X.astype(np.float32))).all()
    with pytest.raises(ValueError, match="missing='mean' or 'indicator' or 'drop'"):
        kerf.KernelRidge(na=[-999]).fit(X, y)


def test_the_program_makes_the_same_model(frame, tmp_path, program):
    frame.iloc[::9, 2] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False, date_format="%Y-%m-%d %H:%M:%S")
    model = fit(frame, missing="indicator", categorical="code")
    model.save(tmp_path / "python.kerf")
    program("fit", "t.csv", "-o", "m.kerf", "--map", "rff", "--features", 64, "--lambda", "1e-3", "--missing", "indicator", "--categorical", "code", cwd=tmp_path)
    rows = frame.drop(columns="y")
    assert (kerf.load(tmp_path / "m.kerf").predict(rows) == model.predict(rows)).all()
    told = [program("predict", name, "t.csv", cwd=tmp_path) for name in ("m.kerf", "python.kerf")]
    assert told[0] == told[1]
    assert np.array_equal(np.array(told[0].split(), dtype=float), model.predict(rows))
