"""The pictures of docs/explorer.md, taken of the demo's store: `python -m tests.explorer.screenshots demo.db docs`.

The store is that of `lineage demo`; columns of patients are tagged in it.
"""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Page, sync_playwright

from lineage.store import open_store
from lineage.traversal import resolve_column
from tests.cli.running import lineage
from tests.cli.test_serve_command import served

TAGS = {"mimiciv_hosp.labevents.subject_id": "patient", "mimiciv_hosp.patients.anchor_age": "age"}
START, LIT = "mimiciv_derived.meld.meld", "mimiciv_hosp.labevents.valuenum"


def take(store: str, folder: Path) -> None:
    """Write the pictures into a folder."""
    for column, kind in TAGS.items():
        lineage("tag", "add", column, kind, "--store", store)
    with open_store(store) as opened:
        start, lit = (resolve_column(opened, name).key for name in (START, LIT))
    above = f"/lineage?of={quote(start, safe='')}&step={quote(f'u*:{start}', safe='')}"
    with served("--store", store) as (address, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 760}, reduced_motion="reduce")
        for name, fragment, prepare in (
            ("start", "/", _search),
            ("picture", f"{above}&references=conditional", lambda page: _light(page, lit)),
            ("evidence", f"{above}&focus={quote(lit, safe='')}&selected={quote(lit, safe='')}", _path),
        ):
            page.goto("about:blank")
            page.goto(f"{address}/#{fragment}")
            page.wait_for_selector("body:not(:has(.busy)) :is(.card, .tile)")
            prepare(page)
            _write(page, folder / f"explorer-{name}.webp")
        browser.close()


def _search(page: Page) -> None:
    page.locator(".tile", has_text="mimiciv_icu").click()
    page.get_by_text("table pairs").first.wait_for()
    page.evaluate("scrollTo(0, 0); document.querySelector('.start-page').scrollTo(0, 0)")
    page.get_by_role("combobox").fill("heart")
    page.get_by_role("option").first.wait_for()


def _light(page: Page, column: str) -> None:
    page.locator(f'.row[data-node="{column}"] .name').hover()
    page.locator(".mark").first.wait_for()


def _path(page: Page) -> None:
    page.locator(".path-to mark").first.wait_for()


def _write(page: Page, path: Path) -> None:
    session = page.context.new_cdp_session(page)
    taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": 82})
    path.write_bytes(base64.b64decode(taken["data"]))


if __name__ == "__main__":
    take(sys.argv[1], Path(sys.argv[2]))
