"""A picture of the top of each page, as wide as a screen and as a telephone:  tools/screenshots.py PAGE.html...

Needs chromium, chromium-driver and python3-selenium (tools/install-deps browser).
"""
import pathlib
import sys

from selenium import webdriver

options = webdriver.ChromeOptions()
for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
    options.add_argument(flag)
driver = webdriver.Chrome(options=options)
for name in sys.argv[1:]:
    page = pathlib.Path(name).resolve()
    for suffix, width, height in (("", 1200, 1000), ("-telephone", 375, 1000)):
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        driver.get(page.as_uri())
        driver.save_screenshot(str(page.with_name(page.stem + suffix + ".png")))
driver.quit()
