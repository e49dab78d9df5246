"""The page that says what is supported is made from the cases as they are."""

from __future__ import annotations

import re

from docs.supported import PAGE, page


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make docs`"


def test_its_links_lead_somewhere() -> None:
    text = PAGE.read_text(encoding="utf-8")
    headings = {"#" + re.sub(r"[^a-z0-9-]", "", line[3:].lower().replace(" ", "-")) for line in text.splitlines()}
    links = set(re.findall(r"\]\(([^)]+)\)", text))
    assert len(links) > 100
    for link in links:
        assert link in headings if link.startswith("#") else (PAGE.parent / link).exists(), link
