"""Every kind of report in a real browser (headless Chromium): no complaints, no overflow on a telephone, keys that work."""
import os

import pytest

from conftest import DATA

if not os.environ.get("KERF_MUST"):  # make test-browser: what is not there is a failure
    pytest.importorskip("selenium", reason="no selenium")
from selenium import webdriver  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--force-prefers-reduced-motion"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    try:
        driver = webdriver.Chrome(options=options)
    except Exception as error:  # no browser, or no driver for it
        if os.environ.get("KERF_MUST"):
            raise
        pytest.skip(f"no browser: {error}")
    yield driver
    driver.quit()


def reports(kerf):
    digits = DATA / "digits_train.csv.gz"
    yield "fit.html", kerf("fit", digits, "--image", "8x8x1", "--map", "arccos", "--features", "64", "--test", DATA / "digits_test.csv.gz", "--report", "fit.html")
    yield "regression.html", kerf("fit", DATA / "diabetes_train.csv", "--intervals", "conformal", "--test", DATA / "diabetes_test.csv", "--report", "regression.html")
    yield "score.html", kerf("score", "model.kerf", DATA / "diabetes_test.csv", "--report", "score.html")
    yield "diagnose.html", kerf("diagnose", digits, "--target", "digit", "--scale", "unit", "--features", "64,128,256", "--sample", "150", "--report", "diagnose.html")
    yield "plan.html", kerf("plan", DATA / "wine_train.csv", "--map", "rff", "--kernel-error", "0.15", "--report", "plan.html")
    yield "compare.html", kerf("compare", DATA / "iris_train.csv", "--maps", "rff,arccos", "--features", "32,128", "--seeds", "2", "--report", "compare.html")


# Elements that reach beyond the screen, or are cut off by what they stand in; tables scroll in boxes of their own.
BEYOND = """const w = document.documentElement.clientWidth, bad = [];
    for (const e of document.querySelectorAll('body *')) {
        const r = e.getBoundingClientRect(), paper = e.closest('svg');
        if (!r.width || !r.height || (e.closest('.scroll') && !e.matches('.scroll'))) continue;
        const cut = paper && paper !== e && e.tagName === 'text' ? paper.getBoundingClientRect() : {left: 0, right: w};
        if (r.right > cut.right + 1 || r.left < cut.left - 1) bad.push(e.tagName + ' ' + e.textContent.slice(0, 40));
    }
    return bad"""
# Boxes that scroll, whose hint is hidden; and hints of boxes that do not.
UNTOLD = """return [...document.querySelectorAll('.scroll')].filter(s => s.offsetParent &&
    (s.scrollWidth > s.clientWidth) === s.previousElementSibling.hidden).map(s => s.textContent.slice(0, 40))"""


def test_every_report_in_a_browser(kerf, tmp_path, browser):
    scrolled = 0
    for name, result in reports(kerf):
        assert result.code == 0, result.err
        for width, mode in ((390, "light"), (390, "dark"), (1440, "light")):
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": mode}]})
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
            browser.get((tmp_path / name).as_uri())
            assert browser.get_log("browser") == [], name
            # Nothing but tables in their own scroll boxes is wider than the screen.
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width, (name, width)
            browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
            browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
            assert browser.execute_script(BEYOND) == [], (name, width)
            assert browser.execute_script(UNTOLD) == [], (name, width)
            scrolled += browser.execute_script("return document.querySelectorAll('.hint:not([hidden])').length")
            paper, ink = browser.execute_script("const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]")
            assert (sum(map(int, paper[4:-1].split(","))) > sum(map(int, ink[4:-1].split(",")))) == (mode == "light")
            sizes = browser.execute_script(
                "return [...document.querySelectorAll('figure.chart text')].map(t => t.getBoundingClientRect().height)")
            assert all(size >= 9 for size in sizes if size), (name, width, min(sizes))
        chart = browser.find_element(By.CSS_SELECTOR, "figure.chart svg[tabindex]") if name != "fit.html" else None
        if chart is not None:
            chart.send_keys(Keys.ARROW_RIGHT)
            tip = browser.find_element(By.CSS_SELECTOR, "figure.chart .tip")
            assert any(c.isdigit() for c in tip.text), name
    assert scrolled > 0  # the matrix of ten classes


def test_tables_sort_by_keyboard(kerf, tmp_path, browser):
    kerf("compare", DATA / "iris_train.csv", "--maps", "rff,arccos", "--features", "32,128", "--seeds", "1", "--sample", "0", "--report", "c.html")
    browser.get((tmp_path / "c.html").as_uri())
    script = """const t=[...document.querySelectorAll('table')].find(t=>t.textContent.includes('Pareto'));
        return [...t.tBodies[0].rows].map(r=>r.children[1].textContent)"""
    button = browser.execute_script("""const t=[...document.querySelectorAll('table')].find(t=>t.textContent.includes('Pareto'));
        return t.querySelectorAll('th button')[1]""")
    button.send_keys(Keys.ENTER)
    assert browser.execute_script(script) == ["32", "32", "128", "128"]
    button.send_keys(Keys.ENTER)
    assert browser.execute_script(script) == ["128", "128", "32", "32"]
    assert button.find_element(By.XPATH, "..").get_attribute("aria-sort") == "descending"
