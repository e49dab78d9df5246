"""What a notebook's cell shows, in the frame that a notebook puts it into."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from lineage import extract_script
from lineage.notebook import LineageView, show
from lineage.traversal import NameLookupError

SQL = "CREATE VIEW v AS SELECT a + b AS c FROM t WHERE d = 'secret'; CREATE VIEW w AS SELECT c FROM v"


def opened(page: Page, view: LineageView) -> None:
    page.set_content(f"<!doctype html><p>A cell.</p>{view._repr_html_()}")


def test_extracted_statements_are_a_picture_with_evidence(page: Page) -> None:
    view = show(extract_script(SQL, "postgres"), sql=SQL, dialect="postgres")
    assert repr(view) == "<lineage of 3 tables, 6 edges>"
    assert "secret" not in view.page
    opened(page, view)
    frame = page.frame_locator("iframe")
    expect(frame.locator(".card")).to_have_count(3)
    frame.locator(".card", has_text="w").get_by_text("c", exact=True).click()
    frame.get_by_text("identity").click()
    expect(frame.locator(".hop")).to_contain_text("CREATE VIEW w AS SELECT c FROM v")


def test_a_store_is_shown_around_a_column(page: Page, store_path: Path) -> None:
    opened(page, show(store_path, column="stage.orders.amount"))
    frame = page.frame_locator("iframe")
    expect(frame.locator("body")).to_contain_text("stage.orders.amount")
    expect(frame.locator(".card").first).to_be_visible()


def test_an_unknown_column_is_an_error(store_path: Path) -> None:
    with pytest.raises(NameLookupError):
        show(store_path, column="no.such.column")


def test_a_view_is_saved_as_a_file(tmp_path: Path) -> None:
    view = show(extract_script(SQL, "postgres"), dialect="postgres")
    assert view.save(tmp_path / "view.html").read_text(encoding="utf-8") == view.page
