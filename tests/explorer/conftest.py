"""The explorer in a real Chromium, against a real service."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.cli.test_serve_command import served
from tests.explorer.estate import fill

expect.set_options(timeout=6_000)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Debian's Chromium; it ends with the folder, since Playwright's loop is in the way of other tests'."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert path, "the explorer's tests need Chromium: make chromium"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def store_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("estate")
    (folder / "sql").mkdir()
    fill(folder / "store.db", folder / "sql")
    return folder / "store.db"


@pytest.fixture(scope="package")
def address(store_path: Path) -> Iterator[str]:
    with served("--store", str(store_path)) as (url, _):
        yield url


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of its own; whatever it reports as an error fails the test."""
    context = browser.new_context(viewport={"width": 1400, "height": 860}, reduced_motion="reduce")
    opened = context.new_page()
    opened.set_default_timeout(6_000)
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda message: problems.append(message.text) if "Content Security" in message.text else None)
    yield opened
    context.close()
    assert not problems
