"""What a person sees and does on the explorer's page."""

from __future__ import annotations

from urllib.parse import quote

from playwright.sync_api import Locator, Page, expect

from tests.explorer.estate import key

__all__ = ["cards", "explore", "lights", "row", "show", "shown_columns"]


def show(page: Page, address: str, *of: str, **parameters: str) -> None:
    """Open the picture of columns or tables, and wait for it."""
    query = "&".join(
        [f"of={quote(key(one), safe='')}" for one in of] + [f"{k}={quote(v)}" for k, v in parameters.items()]
    )
    page.goto(f"{address}/#/lineage?{query}")
    ready(page)


def ready(page: Page) -> None:
    """Wait until nothing is loading."""
    expect(page.locator(".busy")).to_have_count(0)
    expect(page.locator(".card, .why, .list").first).to_be_visible()


def row(page: Page, name: str) -> Locator:
    """Return the row of a column, or the head of a table."""
    return page.locator(f'.picture [data-node="{key(name)}"]')


def cards(page: Page) -> set[str]:
    """Return the tables that have a card."""
    found = page.locator(".card[data-table]").evaluate_all("cards => cards.map(card => card.dataset.table)")
    return {one.removeprefix("postgres/") for one in found}


def explore(page: Page, name: str, way: str) -> None:
    """Press the explore button of a row or a card."""
    row(page, name).locator(f"button.explore.{way}").click()
    ready(page)


def shown_columns(page: Page) -> set[str]:
    """Return the columns of the picture."""
    found = page.locator(".row").evaluate_all("rows => rows.map(row => row.dataset.node)")
    return {one.removeprefix("postgres/") for one in found}


def lights(page: Page) -> dict[str, str]:
    """Return the computed colour of each lit row and head, by its column or table: red, blue or orange."""
    named = page.evaluate(
        """() => {
          const colour = name => {
            const probe = document.body.appendChild(document.createElement('i'));
            probe.style.color = `var(--${name})`;
            const found = getComputedStyle(probe).color;
            probe.remove();
            return found;
          };
          const names = { contribution: 'red', reference: 'blue', both: 'orange' };
          const colours = Object.fromEntries(Object.entries(names).map(([name, word]) => [colour(name), word]));
          return [...document.querySelectorAll('[data-node]')].map(
            node => [node.dataset.node, colours[getComputedStyle(node).color] ?? '']);
        }"""
    )
    return {node.removeprefix("postgres/"): colour for node, colour in named if colour}
