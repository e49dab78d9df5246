"""The start, search, evidence, pasted SQL, stewards, and what the page says when something is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from lineage.sql.extraction import options_for
from lineage.store import open_store
from lineage_ingest.sql_files import ingest_sql_files
from tests.cli.running import lineage
from tests.cli.test_serve_command import served
from tests.explorer.estate import HTML, JANUARY, MARCH, fill
from tests.explorer.lineage_page import cards, ready, row, show, shown_columns


@pytest.fixture(scope="module")
def mutable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service over a store that a test may change."""
    folder = tmp_path_factory.mktemp("mutable")
    (folder / "sql").mkdir()
    fill(folder / "store.db", folder / "sql")
    with served("--store", str(folder / "store.db")) as (url, _):
        yield url


def test_search_by_keyboard(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.get_by_role("heading", name="Most read")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("orders.amo")
    expect(page.locator(".hits [role=option]").first).to_contain_text("amount")
    page.keyboard.press("Enter")
    ready(page)
    assert "shop.orders" in cards(page)
    page.keyboard.press("/")
    page.keyboard.type("nothing like it")
    expect(page.get_by_role("listbox")).to_contain_text("Nothing has “nothing like it” in its name")


def test_the_overview_leads_from_a_schema_to_a_table(page: Page, address: str) -> None:
    page.goto(address)
    tile = page.get_by_role("button", name=re.compile(r"^wide"))
    expect(tile).to_contain_text("27 tables")
    page.get_by_role("button", name=re.compile(r"^stage")).click()
    expect(page.get_by_role("button", name=re.compile(r"^mart"))).to_contain_text("2 table pairs from stage")
    page.locator(".schema").get_by_role("button", name="orders").click()
    ready(page)
    assert "stage.orders" in cards(page)
    page.goto(address)
    expect(page.get_by_role("heading", name="You opened")).to_be_visible()


def test_owners_are_searched_and_are_a_way_to_their_tables(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.get_by_role("heading", name="Most read")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("owner: fin")
    options = page.locator(".hits [role=option]")
    expect(options).to_have_text([re.compile("mart.revenue.*Finance"), re.compile("mart.share.*Finance")])
    page.keyboard.press("Control+A")
    page.keyboard.type("owner: nobody")
    expect(page.get_by_role("listbox")).to_contain_text("Nothing has that owner")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="By owner").click()
    expect(page.get_by_role("heading", name="1 owner, 41 tables without one")).to_be_visible()
    page.get_by_role("button", name="By domain").click()
    expect(page.get_by_role("heading", name="1 domain, 41 tables without one")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Money")).click()
    expect(page.locator(".schema").get_by_role("button")).to_have_text(
        [re.compile("mart.revenue"), re.compile("mart.share")]
    )
    page.get_by_role("button", name="By owner").click()
    page.get_by_role("button", name=re.compile("^Finance")).click()
    page.locator(".schema").get_by_role("button", name="mart.share").click()
    ready(page)
    assert "mart.share" in cards(page)


def test_evidence_is_a_strip_of_sql_marked_where_it_proves_the_path(page: Page, address: str) -> None:
    show(page, address, "shop.orders#amount", step="d*:postgres/shop.orders#amount")
    row(page, "mart.revenue#total").locator(".name").click()
    steps = page.locator(".path-to .hop")
    expect(steps).to_have_count(2)
    expect(steps.nth(0).locator("mark")).to_have_text(["amount"])
    expect(steps.nth(1).locator("mark").first).to_have_text("amount")
    expect(steps.nth(1)).to_contain_text("aggregation")
    expect(steps.nth(1)).to_contain_text("shop.sql:5")
    expect(steps.nth(1).locator(".line").filter(has=page.locator("mark")).first).to_have_attribute("data-number", "3")
    expect(page.get_by_role("complementary")).not_to_contain_text("secret")


def test_use_and_jobs_are_in_the_side_panel(page: Page, address: str) -> None:
    show(page, address, "stage.orders", selected="postgres/stage.orders")
    panel = page.get_by_role("complementary")
    expect(panel).to_contain_text("5 reads, last on 2026-03-10; 2 users")
    expect(panel).to_contain_text("ana (4)")
    expect(panel).to_contain_text("written by create view")


def test_a_table_without_lineage_says_why(page: Page, address: str) -> None:
    show(page, address, "shop.lonely")
    why = page.get_by_role("status", name="Why the picture is empty")
    expect(why).to_contain_text("Only the definition of shop.lonely is known")


def test_a_thin_picture_names_the_job_that_was_not_resolved(page: Page, address: str) -> None:
    show(page, address, "broken.v")
    notice = page.get_by_role("status").filter(has_text="1 job behind these lines could not be fully resolved")
    notice.get_by_role("button").click()
    expect(page.get_by_role("complementary")).to_contain_text("UNKNOWN_COLUMN no column `amuont` in shop.orders")


def test_names_with_html_are_text(page: Page, address: str) -> None:
    show(page, address, "shop.orders#amount")
    expect(page.locator(".card").filter(has_text="onerror").first).to_contain_text(HTML.split('"')[0])
    assert page.locator("main img").count() == 0
    assert "broken" not in page.title()


def test_pasted_sql_has_its_lineage_as_one_types(page: Page, address: str) -> None:
    page.goto(f"{address}/#/sql")
    page.get_by_label("SQL", exact=True).fill(
        "CREATE VIEW mart.revenue AS WITH big AS (SELECT id, amount FROM stage.orders) "
        "SELECT sum(amount) AS total FROM big"
    )
    expect(page.locator('[data-node="stage.orders#amount"]')).to_be_visible()
    expect(page.locator('[data-node="mart.revenue#total"]')).to_be_visible()
    expect(page.locator('[data-node="cte big#amount"]')).to_be_visible()
    page.get_by_label("CTEs as cards").uncheck()
    expect(page.locator('[data-node="cte big#amount"]')).to_have_count(0)
    expect(page.locator('[data-node="mart.revenue#total"]')).to_be_visible()
    said = page.get_by_role("status", name="Completeness")
    expect(said).to_contain_text("The sources of every output column are known")
    expect(said).to_contain_text("mart.revenue is in the graph")
    page.get_by_label("SQL", exact=True).fill("SELECT amuont FROM shop.orders")
    expect(said).to_contain_text("UNKNOWN_COLUMN")
    expect(said).to_contain_text("line 1, column 8")


def test_stewards_describe_tag_assert_and_retire_in_place(page: Page, mutable: str) -> None:
    show(page, mutable, "shop.orders#email", selected="postgres/shop.orders#email")
    panel = page.get_by_role("complementary")
    panel.get_by_label("Description").fill("Address <b>of</b> a customer")
    panel.get_by_label("Tags, separated by commas").fill("pii, contact")
    panel.get_by_role("button", name="Save").click()
    expect(row(page, "shop.orders#email").get_by_role("button")).to_have_accessible_name(
        re.compile(r"pii \(unmasked\)")
    )
    expect(row(page, "shop.orders#email")).to_contain_text("contact")
    expect(panel.locator(".description").first).to_have_text("Address <b>of</b> a customer")
    page.keyboard.press("Escape")
    page.locator(".top").get_by_role("combobox").fill("tag: pii")
    expect(page.locator(".hits [role=option]")).to_have_count(1)
    panel.get_by_text("Assert an edge from here").click()
    panel.get_by_role("combobox", name="Target column").fill("lonely.x")
    panel.locator(".hits [role=option]").first.click()
    panel.get_by_role("button", name="Assert", exact=True).click()
    expect(row(page, "shop.lonely#x")).to_be_visible()
    row(page, "shop.lonely#x").locator(".name").click()
    expect(panel).to_contain_text("A steward asserted it")
    page.once("dialog", lambda dialog: dialog.accept())
    panel.get_by_role("button", name="Retire this edge").first.click()
    expect(row(page, "shop.lonely#x")).to_have_count(0)


def test_a_service_with_tokens_asks_for_one(browser: Browser, store_path: Path, tmp_path: Path) -> None:
    tokens = {"LINEAGE_TOKENS": str(tmp_path / "tokens")}
    made = lineage("token", "create", "ana", "--role", "reader", "--tokens", tokens["LINEAGE_TOKENS"])
    token = re.search(r"lin\w*_[\w-]+|^\S{30,}$", made.out, re.MULTILINE)
    assert token, made
    with served("--store", str(store_path), "--auth", "--tokens", tokens["LINEAGE_TOKENS"]) as (url, _):
        context = browser.new_context()
        page = context.new_page()
        page.goto(url)
        page.get_by_label("Token").fill(token.group())
        page.get_by_role("button", name="Use it in this tab").click()
        expect(page.get_by_role("heading", name="Seen last")).to_be_visible()
        show(page, url, "shop.orders", selected="postgres/shop.orders")
        expect(page.get_by_role("complementary")).not_to_contain_text("Stewardship")
        context.close()


def test_a_service_that_goes_away_is_said_and_tried_again(browser: Browser, store_path: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    with served("--store", str(store_path)) as (url, _):
        show(page, url, "stage.orders#amount")
    page.locator('[data-node="postgres/mart.revenue"] .title').click()
    expect(page.get_by_role("alert").first).to_contain_text("The service does not answer")
    assert len(cards(page)) == 4  # what was there stays
    context.close()


def test_an_address_of_a_renamed_column_leads_to_its_present_name(page: Page, tmp_path: Path) -> None:
    (tmp_path / "sql").mkdir()
    before = "CREATE TABLE t (a int); CREATE VIEW v AS SELECT a FROM t;"
    after = "CREATE TABLE t (a int); ALTER TABLE t RENAME COLUMN a TO b; CREATE VIEW v AS SELECT b FROM t;"
    with open_store(tmp_path / "store.db") as store:
        for at, sql in ((JANUARY, before), (MARCH, after)):
            (tmp_path / "sql" / "t.sql").write_text(sql, encoding="utf-8")
            ingest_sql_files([tmp_path / "sql"], store, options_for("postgres"), observed_at=at, project="shop")
    with served("--store", str(tmp_path / "store.db")) as (url, _):
        show(page, url, "t#a")
        expect(page.locator(".why")).to_contain_text("It is called t.b now.")
        page.get_by_role("button", name="Show it").click()
        ready(page)
        assert shown_columns(page) == {"t#b", "v#b"}


def test_an_empty_graph_says_how_to_fill_it(page: Page, tmp_path: Path) -> None:
    open_store(tmp_path / "empty.db").close()
    with served("--store", str(tmp_path / "empty.db")) as (url, _):
        page.goto(url)
        expect(page.get_by_role("status").filter(has_text="The graph is empty")).to_contain_text("lineage ingest sql")
        page.goto(f"{url}/#/personal-data")
        expect(page.get_by_role("status")).to_contain_text("lineage tag scan")
        page.goto(f"{url}/#/unused")
        expect(page.get_by_role("alert")).to_contain_text("no log")


def test_nothing_comes_from_elsewhere(page: Page, address: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    show(page, address, "stage.orders")
    assert all(url.startswith((address, "data:", "blob:")) for url in asked)
    policy = httpx.get(f"{address}/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert httpx.get(f"{address}/explorer/../settings.py").status_code == 404
    assert httpx.get(f"{address}/explorer/index.html").status_code == 404


def test_the_map_does_not_wait_for_the_lists_and_what_fails_is_tried_again(page: Page, address: str) -> None:
    refused: dict[str, str] = {}

    def answer(route: Route) -> None:
        message = next((text for field, text in refused.items() if field in (route.request.post_data or "")), None)
        if message is None:
            route.continue_()
        else:
            route.fulfill(json={"data": None, "errors": [{"message": message, "extensions": {"code": "TIMEOUT"}}]})

    page.route("**/graphql", answer)
    refused["topTables"] = "the lists were too slow"
    page.goto(address)
    expect(page.locator(".overview .tile").first).to_be_visible()
    failure = page.get_by_role("alert")
    expect(failure).to_contain_text("the lists were too slow")
    del refused["topTables"]
    refused["estate"] = "the map was too slow"
    failure.get_by_role("button", name="Try again").click()
    expect(failure).to_contain_text("the map was too slow")
    expect(page.locator(".overview .tile")).to_have_count(0)
    refused.clear()
    failure.get_by_role("button", name="Try again").click()
    expect(page.locator(".overview .tile").first).to_be_visible()
    expect(page.get_by_role("heading", name="Most read")).to_be_visible()
    expect(failure).to_have_count(0)
