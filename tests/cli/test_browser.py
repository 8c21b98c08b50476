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
    yield "diagnose.html", kerf("diagnose", digits, "--target", "digit", "--scale", "unit", "--features", "64,128,256", "--sample", "150", "--report", "diagnose.html")
    yield "plan.html", kerf("plan", DATA / "wine_train.csv", "--map", "rff", "--kernel-error", "0.15", "--report", "plan.html")
    yield "compare.html", kerf("compare", DATA / "iris_train.csv", "--maps", "rff,arccos", "--features", "32,128", "--seeds", "2", "--report", "compare.html")


def test_every_report_in_a_browser(kerf, tmp_path, browser):
    for name, result in reports(kerf):
        assert result.code == 0, result.err
        for width in (375, 1440):
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
            browser.get((tmp_path / name).as_uri())
            assert browser.get_log("browser") == [], name
            # Nothing but tables in their own scroll boxes is wider than the screen.
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width, (name, width)
            sizes = browser.execute_script(
                "return [...document.querySelectorAll('figure.chart text')].map(t => t.getBoundingClientRect().height)")
            assert all(size >= 9 for size in sizes if size), (name, width, min(sizes))
        chart = browser.find_element(By.CSS_SELECTOR, "figure.chart svg[tabindex]") if name != "fit.html" else None
        if chart is not None:
            chart.send_keys(Keys.ARROW_RIGHT)
            tip = browser.find_element(By.CSS_SELECTOR, "figure.chart .tip")
            assert any(c.isdigit() for c in tip.text), name


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
