"""The picture: hop by hop, light, focus, filters, time, the URL, and the list that equals it."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from tests.explorer.estate import key
from tests.explorer.lineage_page import cards, explore, lights, ready, row, show, shown_columns

PAPER = ("customers", "orders", "web", "webinfo", "webact", "info")


def test_one_hop_first_then_as_far_as_one_goes_and_cards_stay(page: Page, address: str) -> None:
    show(page, address, "stage.orders#amount")
    assert cards(page) == {"shop.orders", "stage.orders", "mart.revenue", "mart.share"}
    assert shown_columns(page) == {"shop.orders#amount", "stage.orders#amount", "mart.revenue#total", "mart.share#part"}
    show(page, address, "mart.revenue#total")
    assert cards(page) == {"stage.orders", "mart.revenue"}
    button = row(page, "stage.orders#amount").locator("button.explore.up")
    expect(button).to_have_attribute("aria-label", "Explore 1 more column upstream of amount")
    before = {name: page.locator(f'[data-id="{key(name)}"]').get_attribute("style") for name in cards(page)}
    explore(page, "stage.orders#amount", "up")
    assert cards(page) == {"shop.orders", "stage.orders", "mart.revenue"}
    for name, style in before.items():
        assert page.locator(f'[data-id="{key(name)}"]').get_attribute("style") == style
    expect(row(page, "stage.orders#amount").locator("button.explore.up")).to_have_count(0)


def test_the_colours_of_the_paper(page: Page, address: str) -> None:
    show(page, address, *PAPER, references="all")
    row(page, "webinfo#wpage").locator(".name").hover()
    info = {f"info#{name}": "blue" for name in ("name", "age", "oid", "wcid", "wdate", "wreg")}
    webact = {f"webact#{name}": "blue" for name in ("wcid", "wdate", "wreg")}
    expected = {**info, **webact, "webact": "blue", "info": "blue", "webact#wpage": "orange", "info#wpage": "orange"}
    shown = shown_columns(page) | set(PAPER)
    assert lights(page) == {name: colour for name, colour in expected.items() if name in shown}
    row(page, "web#page").locator(".name").hover()
    assert lights(page)["webinfo#wpage"] == "red"
    assert "web#cid" not in lights(page)
    # Not by colour alone.
    expect(row(page, "webinfo#wpage").locator(".sign")).to_have_text("●")
    expect(row(page, "info#wcid").locator(".sign")).to_have_text("◇")
    expect(row(page, "info#wpage").locator(".sign")).to_have_text("◈")
    faded = page.locator(f'.card[data-table="{key("customers")}"]')
    expect(faded).to_have_class(re.compile("faded"))


def test_shift_lights_what_is_upstream(page: Page, address: str) -> None:
    show(page, address, *PAPER)
    row(page, "info#wpage").locator(".name").hover()
    assert lights(page) == {}
    page.keyboard.down("Shift")
    assert lights(page) == {"webact#wpage": "red", "webinfo#wpage": "red", "web#page": "red"}
    page.keyboard.up("Shift")
    assert lights(page) == {}


def test_the_light_is_reached_by_keyboard(page: Page, address: str) -> None:
    show(page, address, "shop.orders#amount")
    row(page, "shop.orders").locator(".title").focus()
    page.keyboard.press("ArrowDown")
    assert lights(page).get("stage.orders#amount") == "red"
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Leave the focus on shop.orders.amount")).to_be_visible()


def test_a_click_is_the_focus_and_back_leaves_it(page: Page, address: str) -> None:
    show(page, address, "stage.orders")
    everything = shown_columns(page)
    row(page, "mart.revenue#total").locator(".name").click()
    ready(page)
    assert shown_columns(page) == {"shop.orders#amount", "stage.orders#amount", "mart.revenue#total"}
    page.go_back()
    ready(page)
    assert shown_columns(page) == everything
    page.go_forward()
    expect(page.get_by_role("button", name="Leave the focus on mart.revenue.total")).to_be_visible()


def test_the_url_is_the_whole_state(page: Page, address: str) -> None:
    show(page, address, "mart.revenue#total")
    explore(page, "stage.orders#amount", "up")
    page.get_by_label("References", exact=True).check()
    ready(page)
    row(page, "shop.orders#amount").locator(".name").click()
    ready(page)
    url, seen = page.url, (cards(page), shown_columns(page))
    page.goto("about:blank")
    page.goto(url)
    ready(page)
    assert (cards(page), shown_columns(page)) == seen
    expect(page.get_by_label("References", exact=True)).to_be_checked()
    expect(page.get_by_role("complementary", name="About shop.orders.amount")).to_be_visible()


def test_references_by_clause(page: Page, address: str) -> None:
    show(page, address, "shop.orders#status")
    expect(page.get_by_role("status", name="Why the picture is empty")).to_contain_text("1 reference")
    page.get_by_role("button", name="Show references").click()
    ready(page)
    assert cards(page) == {"shop.orders", "stage.orders"}
    page.get_by_text("by clause").click()
    page.get_by_label("filter", exact=True).uncheck()
    ready(page)
    assert cards(page) == {"shop.orders"}


@pytest.mark.parametrize(
    ("label", "choice", "left"),
    [
        ("Schema", "mart", {"stage.orders", "mart.revenue", "mart.share"}),
        ("Masking", "masked", {"shop.orders", "stage.orders"}),
        ("Masking", "unmasked", {"shop.orders", "stage.orders", "mart.revenue", "mart.share"}),
    ],
)
def test_filters_hide_and_say_what_lifts_them(
    page: Page, address: str, label: str, choice: str, left: set[str]
) -> None:
    show(page, address, "stage.orders")
    page.get_by_role("combobox", name=label, exact=True).select_option(choice)
    ready(page)
    assert cards(page) == left
    notice = page.locator(".missing")
    expect(notice).to_contain_text("hidden by the filter")
    notice.get_by_role("button").click()
    ready(page)
    assert cards(page) == {"shop.orders", "stage.orders", "mart.revenue", "mart.share"}


def test_a_date_shows_the_graph_as_it_was_and_two_are_compared(page: Page, address: str) -> None:
    show(page, address, "mart.share#part", asOf="2026-02-01")
    assert shown_columns(page) == {"stage.orders#id", "mart.share#part"}
    page.get_by_label("As of").fill("")
    ready(page)
    assert shown_columns(page) == {"stage.orders#amount", "mart.share#part"}
    page.get_by_label("Compare with").fill("2026-02-01")
    ready(page)
    assert shown_columns(page) == {"stage.orders#amount", "stage.orders#id", "mart.share#part"}
    row(page, "mart.share#part").locator(".name").click()
    panel = page.get_by_role("complementary")
    expect(panel.locator(".edge").filter(has_text="stage.orders.id")).to_contain_text("gone")
    expect(panel.locator(".edge").filter(has_text="stage.orders.amount")).to_contain_text("added")
    show(page, address, "mart.share#part", asOf="2025-01-01")
    page.get_by_role("button", name="Go to now").click()
    ready(page)
    assert shown_columns(page) == {"stage.orders#amount", "mart.share#part"}


def test_siblings_are_stacked_and_come_out_by_steps(page: Page, address: str) -> None:
    show(page, address, "shop.hub#hub")
    expect(page.locator(".card.stack")).to_contain_text("27 tables")
    page.get_by_role("button", name="show 10").click()
    ready(page)
    assert len(cards(page)) == 11
    expect(page.locator(".card.stack")).to_contain_text("10 of 27 shown")
    row(page, "shop.hub#hub").locator(".name").hover()
    assert list(lights(page).values()).count("red") == 11  # ten columns, and the stack of the others


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"references": "all"},
        {"references": "all", "focus": key("mart.revenue#total")},
        {"masking": "masked"},
        {"schema": "mart", "hops": "1"},
        {"step": f"u*:{key('stage.orders')}", "references": "all"},
    ],
)
def test_the_list_has_the_columns_of_the_picture(
    page: Page, address: str, tmp_path: Path, parameters: dict[str, str]
) -> None:
    show(page, address, "stage.orders", **parameters)
    pictured = shown_columns(page)
    page.get_by_role("button", name="List", exact=True).click()
    rows = page.locator(".list tbody tr")
    expect(rows.first).to_be_visible()
    listed = {one for one in rows.evaluate_all("rows => rows.map(row => row.dataset.node)") if "#" in one}
    assert {one.removeprefix("postgres/") for one in listed} == pictured
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as CSV").click()
    download.value.save_as(tmp_path / "list.csv")
    text = (tmp_path / "list.csv").read_bytes().decode()
    saved = list(csv.DictReader(io.StringIO(text, newline="")))
    assert {f"{line['Table']}#{line['Column']}" for line in saved if line["Column"] != "(rows)"} == pictured
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as Excel").click()
    download.value.save_as(tmp_path / "list.xlsx")
    with zipfile.ZipFile(tmp_path / "list.xlsx") as book:
        sheet = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    assert sum(element.tag.endswith("}row") for element in sheet.iter()) == len(saved) + 1
    page.get_by_label("Find").fill("revenue")
    for line in rows.all_inner_texts():
        assert "revenue" in line


def test_everything_below_has_its_count_before_it_is_pressed(page: Page, address: str) -> None:
    show(page, address, "shop.orders#amount")
    button = page.get_by_role("button", name="Everything below: 4 columns in 4 tables")
    button.click()
    ready(page)
    assert {"stage.orders", "mart.revenue", "mart.share"} <= cards(page)


def test_a_cycle_is_drawn(page: Page, address: str) -> None:
    show(page, address, "ring.a#x")
    assert cards(page) == {"ring.a", "ring.b"}
    row(page, "ring.a#x").locator(".name").hover()
    assert lights(page)["ring.b#x"] == "red"


def test_where_only_references_lead_everything_shows_them(page: Page, address: str) -> None:
    show(page, address, "shop.orders#status")
    button = page.get_by_role("button", name="Everything below")
    expect(button).to_contain_text("0 columns in 0 tables;")
    expect(button).to_contain_text("with references")
    button.click()
    ready(page)
    expect(page.get_by_role("checkbox", name="References", exact=True)).to_be_checked()
    assert len(cards(page)) > 1


def test_personal_data_is_marked_in_the_picture_and_in_the_list(page: Page, address: str, tmp_path: Path) -> None:
    show(page, address, "stage.orders")
    mark = row(page, "stage.orders#email_hash").locator(".mark")
    expect(mark).to_have_text("⚐ email")
    expect(row(page, "shop.orders#email").locator(".mark")).to_have_text("⚑ email")
    named = row(page, "stage.orders#email_hash").get_by_role("button", name="personal data: email (masked)")
    expect(named).to_be_visible()
    expect(page.get_by_label("Legend")).to_contain_text("⚑ readable, ⚐ masked")
    marked = page.locator(".row:has(.mark)").evaluate_all("rows => rows.map(row => row.dataset.node)")
    named.click()
    panel = page.get_by_role("complementary", name="About stage.orders.email_hash")
    expect(panel).to_contain_text("Holds email of shop.orders.email masked")
    show(page, address, "stage.orders", list="1")
    expect(page.locator("td.personal", has_text="email (masked)")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as CSV").click()
    download.value.save_as(tmp_path / "list.csv")
    saved = csv.DictReader(io.StringIO((tmp_path / "list.csv").read_text(encoding="utf-8"), newline=""))
    held = {key(f"{line['Table']}#{line['Column']}"): line["Personal data"] for line in saved if line["Personal data"]}
    assert held == {key("shop.orders#email"): "email (unmasked)", key("stage.orders#email_hash"): "email (masked)"}
    assert set(marked) == held.keys()
