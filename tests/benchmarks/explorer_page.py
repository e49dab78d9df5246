"""The explorer's page in a real Chromium, over 5,000 tables and 100,000 columns in an embedded store and in Neo4j.

`first_picture`: from an empty browser to a drawn picture of a column. `explore_step`: from a press on *Explore* to the
cards that it adds. `pan`: frames a second while the largest picture of up to 300 cards, of what depends on some
columns, is moved, as a whole and near. `overview`: the start page, also of 200,000 tables. `requests` are what the page
asks the service, longest first; `nodes` are elements of the document. LINEAGE_BENCHMARK_CACHE names the folder in which
graphs are kept.
"""

from __future__ import annotations

import shutil
import statistics
import time
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Browser, Page, sync_playwright

from tests.benchmarks._layered_graph import LayeredGraph
from tests.benchmarks._layered_stores import embedded_path, running_neo4j
from tests.cli.test_serve_command import served

ON_REQUEST = True

ROUNDS = 7
CARDS = 300
ESTATE = LayeredGraph(layers=10, width=500, columns=20, edges=250_000, hubs=10)
LARGE = LayeredGraph(layers=20, width=10_000, columns=10, edges=1_000_000, hubs=10)

# The press, and the frame after the one in which what it added was drawn.
_EXPLORE = """button => new Promise(done => {
  const before = document.querySelectorAll('.card').length, began = performance.now();
  button.click();
  const look = () => document.querySelector('.busy') || document.querySelectorAll('.card').length === before
    ? performance.now() - began > 10000 ? done(null) : requestAnimationFrame(look)
    : requestAnimationFrame(() => done(performance.now() - began));
  requestAnimationFrame(look);
})"""
# A second of frames while wheel events move the picture.
_PAN = """pane => new Promise(done => {
  const began = performance.now(); let frames = 0, last = began, longest = 0;
  const step = now => {
    frames += 1; longest = Math.max(longest, now - last); last = now;
    const t = (now - began) / 1000;
    if (t > 2) return done({ fps: frames / t, longest_ms: longest });
    drag('pointermove', 500 + 250 * Math.sin(t * 4), 400 + 200 * Math.cos(t * 5));
    requestAnimationFrame(step);
  };
  const drag = (type, x, y) => {
    const at = { bubbles: true, cancelable: true, clientX: x, clientY: y, button: 0, buttons: 1, view: window };
    (type === 'pointermove' ? window : pane).dispatchEvent(new MouseEvent(type.replace('pointer', 'mouse'), at));
  };
  drag('pointerdown', 500, 600);
  requestAnimationFrame(step);
})"""
_OPEN_STACK = """() => {
  const more = document.querySelector('.card.stack .foot button');
  more?.click();
  return Boolean(more);
}"""
_NODES = "document.querySelectorAll('*').length"
_REQUESTS = """performance.getEntriesByType('resource').filter(one => one.name.endsWith('/graphql'))
  .map(one => Math.round(one.duration))"""


def run() -> dict[str, Any]:
    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        with served("--store", str(embedded_path(ESTATE)), "--read-only") as (address, _):
            figures = {
                "first_picture": _first_picture(browser, address),
                "explore_step": _explored(browser, address),
                "pan": _panned(browser, address),
                "overview": _overview(browser, address),
            }
        with served("--store", str(embedded_path(LARGE)), "--read-only") as (address, _):
            figures["overview_of_200000"] = _overview(browser, address)
        with running_neo4j(ESTATE) as server:
            login = {"LINEAGE_NEO4J_USER": server.user, "LINEAGE_NEO4J_PASSWORD": server.password}
            with served("--store", server.bolt_uri, environment=login) as (address, _):
                figures["on_neo4j"] = {
                    "first_picture": _first_picture(browser, address),
                    "explore_step": _explored(browser, address),
                    "overview": _overview(browser, address),
                }
        browser.close()
    return figures


def _columns() -> list[str]:
    """Return columns of the middle of the graph, each with sources and consumers."""
    keys = ESTATE.column_keys()
    middle = ESTATE.layers // 2 * ESTATE.width
    return [keys[(middle + 7 * number) * ESTATE.columns + number % 2] for number in range(ROUNDS)]


def _address(address: str, key: str, **parameters: str) -> str:
    query = "".join(f"&{name}={quote(value, safe='')}" for name, value in parameters.items())
    return f"{address}/#/lineage?of={quote(key, safe='')}{query}"


def _wait(page: Page, selector: str) -> None:
    page.wait_for_selector(f"body:not(:has(.busy)) :is({selector}, .failure)", timeout=60_000)
    failure = page.locator(".failure")
    if failure.count():
        raise AssertionError(failure.first.inner_text())


def _first_picture(browser: Browser, address: str) -> dict[str, Any]:
    seconds, requests, nodes = [], [], []
    for key in _columns():
        context = browser.new_context(viewport={"width": 1400, "height": 860})
        page = context.new_page()
        began = time.perf_counter()
        page.goto(_address(address, key), wait_until="commit")
        _wait(page, ".card")
        seconds.append(time.perf_counter() - began)
        requests.append(sorted(page.evaluate(_REQUESTS), reverse=True))
        nodes.append(page.evaluate(_NODES))
        context.close()
    return {**_spread(seconds), "requests_ms": requests[-1], "nodes": max(nodes)}


def _explored(browser: Browser, address: str) -> dict[str, Any]:
    milliseconds = []
    page = browser.new_page(viewport={"width": 1400, "height": 860})
    for key in _columns():
        page.goto("about:blank")
        page.goto(_address(address, key))
        _wait(page, ".card")
        for side in ("down", "up"):
            button = page.locator(f"button.explore.{side}")
            if button.count() and (took := button.first.evaluate(_EXPLORE)) is not None:
                milliseconds.append(took)
    nodes = page.evaluate(_NODES)
    page.close()
    return {**_spread([one / 1000 for one in milliseconds]), "steps": len(milliseconds), "nodes": nodes}


def _panned(browser: Browser, address: str) -> dict[str, Any]:
    page = browser.new_page(viewport={"width": 1400, "height": 860})
    found: dict[str, Any] = {}
    for starts in (4, 8, 12, 16, 20):  # the most cards that are drawn
        _picture_of_many(page, address, starts)
        _unstack(page)
        canvas = page.locator(".picture canvas")
        cards = canvas.get_attribute("data-cards") if canvas.count() else None
        if cards is None or int(cards) > CARDS:
            break
        pane = page.locator(".react-flow__pane")
        whole = pane.evaluate(_PAN)
        closer = page.locator(".react-flow__controls-zoomin")
        for _ in range(8):
            if closer.is_enabled():
                closer.click()
        found = {
            "cards": int(cards),
            "lines": int(page.locator(".picture canvas").get_attribute("data-lines") or 0),
            "whole": whole,
            "near": pane.evaluate(_PAN),
            "nodes": page.evaluate(_NODES),
        }
    page.close()
    return found


def _picture_of_many(page: Page, address: str, starts: int) -> None:
    """Open all that depends on some columns."""
    keys = [quote(key, safe="") for key in ESTATE.column_keys()[:: 10 * ESTATE.columns + 1][50 : 50 + starts]]
    page.goto("about:blank")
    page.goto(f"{address}/#/lineage?" + "&".join(f"of={key}&step=d*:{key}" for key in keys))
    _wait(page, ".card, .list, .notices button")
    anyway = page.get_by_role("button", name="Draw them anyway")
    if anyway.count():
        anyway.click()
        _wait(page, ".card")


def _unstack(page: Page) -> None:
    """Open stacks of siblings, ten cards at a time, while all cards are no more than can be drawn."""
    canvas = page.locator(".picture canvas")
    while int(canvas.get_attribute("data-cards") or CARDS) <= CARDS - 10 and page.evaluate(_OPEN_STACK):
        page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        anyway = page.get_by_role("button", name="Draw them anyway")
        if anyway.count():
            anyway.click()
        _wait(page, ".card")


def _overview(browser: Browser, address: str) -> dict[str, Any]:
    seconds, nodes = [], 0
    for _ in range(ROUNDS):
        context = browser.new_context(viewport={"width": 1400, "height": 860})
        page = context.new_page()
        began = time.perf_counter()
        page.goto(f"{address}/", wait_until="commit")
        _wait(page, ".overview .tile")
        seconds.append(time.perf_counter() - began)
        nodes = page.evaluate(_NODES)
        requests = page.evaluate(_REQUESTS)
        context.close()
    return {**_spread(seconds), "requests_ms": requests, "nodes": nodes}


def _spread(seconds: list[float]) -> dict[str, float]:
    """Return the first, which finds nothing cached, the median and the longest."""
    return {
        "first_seconds": round(seconds[0], 3),
        "median_seconds": round(statistics.median(seconds), 3),
        "longest_seconds": round(max(seconds), 3),
    }
