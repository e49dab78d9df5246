"""Five questions that somebody has who does not know the page: each is answered from it, in a few clicks.

The page is used by what it says only: a name that changes here is one that people look for.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.cli.test_serve_command import served
from tests.explorer.lineage_page import cards, ready
from tests.explorer.task_estate import fill_for_tasks


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("tasks")
    fill_for_tasks(folder / "store.db", folder)
    with served("--store", str(folder / "store.db")) as (address, _):
        yield address


@pytest.fixture
def start(page: Page, shop: str) -> Page:
    page.goto(shop)
    return page


def _search(page: Page, text: str) -> None:
    """Type and press Enter: no click."""
    expect(page.get_by_role("combobox")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type(text)
    page.keyboard.press("Enter")
    expect(page.get_by_role("group", name="Filters")).to_be_visible()
    ready(page)


def test_what_breaks_if_a_column_is_dropped(start: Page) -> None:
    """One click; two with filters and joins."""
    _search(start, "orders.amount")
    start.get_by_role("button", name="Everything below: 7 columns in 6 tables").click()
    ready(start)
    assert {"report.board", "report.top_customers", "legacy.orders_monthly"} < cards(start)


def test_why_a_number_is_wrong_since_may(start: Page) -> None:
    """Two clicks and a date."""
    _search(start, "board revenue")
    start.get_by_role("button", name="Everything above").click()
    ready(start)
    start.get_by_label("Compare with").fill("2025-04-30")
    ready(start)
    notice = start.locator(".comparison")
    expect(notice).to_contain_text("1 line of this picture changed since 2025-04-30: 1 added.")
    notice.get_by_role("button", name="Compare them too").click()
    expect(notice).to_contain_text("7 lines of this picture changed")
    assert "shop.rates" in cards(start)


def test_who_reads_addresses_unmasked(start: Page) -> None:
    """Two clicks: the class of the column leads to its readers."""
    _search(start, "customers.email")
    about = start.get_by_role("complementary", name="About shop.customers.email")
    expect(about).to_contain_text("Personal data: email")
    about.get_by_role("button", name="Who read it?").click()
    start.get_by_label("Hide reads of masked values").check()
    rows = start.get_by_role("region", name="Readers").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text("tom")
    expect(rows.nth(1)).to_contain_text("zoe")


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("orders_export", "Yes: nobody used it"),
        ("top_customers", "No: it was read on"),
        ("mart.contacts", "No: what is made from it was used"),
    ],
)
def test_whether_a_table_is_used(start: Page, table: str, says: str) -> None:
    """One click."""
    _search(start, table)
    about = start.get_by_role("complementary")
    about.get_by_role("button", name="May it be dropped?").click()
    expect(about).to_contain_text(says)
    if table == "orders_export":
        expect(about).to_contain_text("Drop first what is made from it: legacy.orders_monthly.")


def test_what_changed_between_two_dates(start: Page) -> None:
    """Two dates."""
    _search(start, "mart.revenue")
    start.get_by_label("As of").fill("2025-06-01")
    start.get_by_label("Compare with").fill("2025-04-30")
    ready(start)
    changes = start.get_by_role("region", name="Changes")
    expect(changes).to_contain_text("since 2025-05-06")
    expect(changes.locator("b.added")).to_have_count(7)
    expect(changes).to_contain_text("stage.orders.status → its rows filter")
    start.get_by_label("As of").fill("2025-04-30")
    start.get_by_label("Compare with").fill("2025-04-01")
    expect(changes).to_contain_text("nothing changed")
    start.get_by_label("Compare with").fill("2025-01-01")
    expect(changes.locator("b.added")).not_to_have_count(0)
