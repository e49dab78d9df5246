"""The offline file: the same page, opened from the disk, with the data in it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.cli.test_serve_command import LINEAGE
from tests.explorer.estate import key
from tests.explorer.lineage_page import cards, explore, lights, ready, row, shown_columns


def exported(store_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [LINEAGE, "export", *arguments, "--store", str(store_path)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def file(store_path: Path, tmp_path: Path) -> Path:
    path = tmp_path / "out.html"
    done = exported(store_path, "html", str(path), "--focus", "mart.revenue.total")
    assert done.returncode == 0, done.stderr
    return path


def test_a_file_opens_at_its_focus_and_is_explored_without_any_request(page: Page, file: Path) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    ready(page)
    assert shown_columns(page) == {"stage.orders#amount", "mart.revenue#total"}
    explore(page, "stage.orders#amount", "up")
    expect(page.locator(".mark")).to_have_count(0)
    row(page, "shop.orders#amount").locator(".name").hover()
    assert lights(page) == {"stage.orders#amount": "red", "mart.revenue#total": "red"}
    row(page, "shop.orders#amount").locator(".name").click()
    expect(page.locator(".path-to .hop mark").first).to_have_text("amount")
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert page.url.startswith(file.as_uri())


def test_back_works_in_a_file(page: Page, file: Path) -> None:
    page.goto(file.as_uri())
    ready(page)
    explore(page, "stage.orders#amount", "up")
    page.go_back()
    ready(page)
    assert cards(page) == {"stage.orders", "mart.revenue"}


def test_a_file_of_everything_starts_with_the_overview(page: Page, store_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "all.html"
    done = exported(store_path, "html", str(path))
    assert done.returncode == 0, done.stderr
    page.goto(path.as_uri())
    expect(page.get_by_role("heading", name="43 tables in 7 schemas of 1 system")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("wide.t05")
    page.keyboard.press("Enter")  # before the suggestions are there
    ready(page)
    assert "wide.t05" in cards(page)
    text = path.read_text(encoding="utf-8")
    assert "secret" not in text
    assert "ana" not in text.partition('id="lineage-data">')[2].partition("</script>")[0].split('"')


def test_a_file_marks_personal_data(page: Page, store_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    done = exported(store_path, "html", str(path), "--focus", "stage.orders.email_hash")
    assert done.returncode == 0, done.stderr
    page.goto(path.as_uri())
    ready(page)
    expect(row(page, "stage.orders#email_hash").locator(".mark")).to_have_text("⚐ email")


def test_diagrams_have_the_tables(store_path: Path) -> None:
    chart = exported(store_path, "mermaid", "--focus", "mart.revenue.total").stdout
    assert chart.startswith("flowchart LR\n")
    for name in ("shop.orders", "stage.orders", "mart.revenue"):
        assert f'["{name}"]' in chart
    graph = exported(store_path, "dot", "--focus", "shop.orders").stdout
    assert f'"{key("shop.orders")}" -> "{key("stage.orders")}" [label="4"];' in graph
    assert "<img" not in exported(store_path, "mermaid").stdout


def test_a_site_is_read_from_the_disk(page: Page, store_path: Path, tmp_path: Path) -> None:
    done = exported(store_path, "site", str(tmp_path / "site"))
    assert done.returncode == 0, done.stderr
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto((tmp_path / "site" / "index.html").as_uri())
    page.get_by_label("Find a table").fill("revenue")
    expect(page.locator("tr.found:visible")).to_have_count(1)
    page.get_by_role("link", name="mart.revenue").click()
    picture = page.get_by_role("region", name="Neighbours of the table")
    assert picture.locator("path.flow").first.evaluate("one => getComputedStyle(one).stroke") == "rgb(200, 32, 47)"
    picture.get_by_role("link", name="stage.orders").click()
    expect(page.get_by_role("heading", name="stage.orders")).to_be_visible()
    page.get_by_role("link", name="Open in the explorer").click()
    ready(page)
    assert "stage.orders" in cards(page)
    assert said == []  # the policy of the pages forbids nothing that they need
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
