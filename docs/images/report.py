"""Take the pictures of the report: python -m docs.images.report (needs Chromium)."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

from keeptree.reporting.demo import demo

HERE = Path(__file__).parent


def main():
    """Write the demo report and take its pictures."""
    with TemporaryDirectory() as folder, sync_playwright() as play:
        page = Path(folder) / "demo.html"
        demo(page)
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": 1440, "height": 1000})
        tab.goto(page.as_uri())
        take_pictures(tab)
        browser.close()


def take_pictures(tab):
    """Take the first screen, the panel, the distance chart, and dark mode on a phone."""
    tab.screenshot(path=HERE / "report.png")
    tab.locator("#tab-whatif").click()
    tab.locator(".lock").nth(2).click()
    tab.wait_for_timeout(600)
    tab.locator("#answer").screenshot(path=HERE / "whatif.png")
    tab.locator("#tab-why").click()
    tab.locator("#distance > summary").click()
    tab.locator("#distance .columns").screenshot(path=HERE / "report_distance.png")
    tab.set_viewport_size({"width": 390, "height": 844})
    tab.emulate_media(color_scheme="dark")
    tab.evaluate("document.querySelector('#cases').scrollIntoView()")
    tab.locator(".case").nth(2).click()
    tab.wait_for_timeout(1500)
    tab.screenshot(path=HERE / "report_phone.png")


if __name__ == "__main__":
    main()
