"""The main states of the page have no serious violation of what axe checks, light and dark."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.explorer.estate import key

_ORDERS, _TOTAL = (quote(key(name), safe="") for name in ("stage.orders", "mart.revenue#total"))
STATES = {
    "start": ("/", ".overview .tile"),
    "picture": (f"/lineage?of={_ORDERS}&references=all&selected={_ORDERS}", ".card"),
    "focus": (f"/lineage?of={_ORDERS}&focus={_TOTAL}&selected={_TOTAL}", ".path-to .hop"),
    "list": (f"/lineage?of={_ORDERS}&list=1", ".list tbody tr"),
    "sql": ("/sql", "textarea"),
    "personal-data": (f"/personal-data?column={quote(key('shop.orders#email'), safe='')}", ".panel li"),
    "access": ("/access", ".list tbody tr"),
    "unused": ("/unused?days=36500", ".list tbody tr"),
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_state_has_a_serious_violation(page: Page, address: str, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce")
    found = []
    for name, (fragment, ready) in STATES.items():
        page.goto("about:blank")
        page.goto(f"{address}/#{fragment}")
        page.wait_for_selector(f"body:not(:has(.busy)) {ready}")
        for violation in Axe().run(page).response["violations"]:
            if violation["impact"] in ("serious", "critical"):
                found += [f"{name}: {violation['id']}: {node['html'][:120]}" for node in violation["nodes"]]
    assert not found, "\n".join(found)
