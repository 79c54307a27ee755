"""Take the pictures of the report: python -m docs.images.report (needs Chromium)."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

from keeptree.reporting.demo import demo

HERE = Path(__file__).parent
SCHEMES = {"light": ".png", "dark": "_dark.png"}  # the site shows the second in the dark


def main():
    """Write the demo report and take its pictures."""
    with TemporaryDirectory() as folder, sync_playwright() as play:
        page = Path(folder) / "demo.html"
        demo(page)
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for scheme, ending in SCHEMES.items():
            tab = browser.new_page(viewport={"width": 1440, "height": 1000}, color_scheme=scheme)
            tab.goto(page.as_uri())
            take_pictures(tab, ending)
        take_phone(tab)
        browser.close()


def take_pictures(tab, ending):
    """Take the first screen, the panel and the distance chart."""
    tab.screenshot(path=HERE / f"report{ending}")
    tab.locator("#tab-whatif").click()
    tab.locator(".lock").nth(2).click()
    tab.wait_for_timeout(600)
    tab.locator("#answer").screenshot(path=HERE / f"whatif{ending}")
    tab.locator("#tab-why").click()
    tab.locator("#distance > summary").click()
    tab.locator("#distance .columns").screenshot(path=HERE / f"report_distance{ending}")


def take_phone(tab):
    """Take a case in dark mode on a phone."""
    tab.set_viewport_size({"width": 390, "height": 844})
    tab.evaluate("document.querySelector('#cases').scrollIntoView()")
    tab.locator(".case").nth(2).click()
    tab.wait_for_timeout(1500)
    tab.screenshot(path=HERE / "report_phone.png")


if __name__ == "__main__":
    main()
