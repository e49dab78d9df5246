"""The reports: personal data, who read it, and unused tables; where they are refused, and to whom readers are shown."""

from __future__ import annotations

import re

import httpx
from playwright.sync_api import Page, expect

from tests.explorer.lineage_page import cards, ready


def test_personal_data_leads_from_a_class_to_who_shows_it(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("link", name="Reports").click()
    page.get_by_role("button", name="email 1").click()
    page.get_by_role("button", name="shop.orders.email").click()
    panel = page.get_by_role("complementary", name="Where its values are")
    expect(panel).to_contain_text("1 other column in 1 table holds its values")
    expect(panel.get_by_role("heading", name="stage.orders")).to_be_visible()
    expect(panel.locator("li")).to_contain_text("email_hash")
    expect(panel.locator("li .badge")).to_have_text("masked")
    url = page.url
    page.go_back()
    expect(page.get_by_text("Choose a column")).to_be_visible()
    page.goto("about:blank")
    page.goto(url)
    expect(panel).to_contain_text("email_hash")
    panel.get_by_role("button", name="Open picture").click()
    ready(page)
    assert "shop.orders" in cards(page)


def test_who_read_personal_data(page: Page, address: str) -> None:
    page.goto(f"{address}/#/personal-data")
    page.get_by_role("button", name="Who read it").click()
    report = page.get_by_role("region", name="Readers")
    expect(report.locator("tbody tr")).to_have_count(2)
    expect(report.get_by_role("row").nth(1)).to_contain_text("ana")
    expect(report.get_by_role("row").nth(1)).to_contain_text("unmasked")
    expect(page.get_by_text("2 readers of 1 column")).to_be_visible()
    expect(page.get_by_text("too few days to say who is new")).to_be_visible()
    page.get_by_role("button", name="email", exact=True).click()
    page.get_by_label("Hide reads of masked values").check()
    assert page.url.endswith("/access?class=email&shows=unmasked")
    page.reload()
    expect(page.get_by_label("Hide reads of masked values")).to_be_checked()
    report.get_by_role("button", name="shop.orders.email").first.click()
    ready(page)
    assert "shop.orders" in cards(page)


def test_unused_tables_by_age(page: Page, address: str) -> None:
    page.goto(f"{address}/#/unused?days=36500")
    report = page.get_by_role("region", name="Unused tables")
    expect(report).to_contain_text("mart.revenue")
    expect(page.get_by_role("status")).to_contain_text("Logs cover 2026-03-09 to 2026-03-09")
    # Read once by a person, and not by a query that the log has.
    expect(report.get_by_role("row", name=re.compile("^stage.orders"))).to_contain_text("2026-03-10")
    page.get_by_label("Not used for").select_option("30")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("log")
    assert page.url.endswith("?days=30")


def test_the_query_editor_is_offered_where_it_is(page: Page, address: str) -> None:
    page.goto(address)
    link = page.get_by_role("link", name="GraphQL")
    expect(link).to_be_visible()
    editor = httpx.get(
        f"{address}/{link.get_attribute('href')}", headers={"Accept": "text/html"}, follow_redirects=True
    )
    assert editor.status_code == 200
