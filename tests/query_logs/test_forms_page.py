"""The page that says in which forms query logs are read is made from the samples as they are read."""

from __future__ import annotations

from docs.query_logs import PAGE, page


def test_the_page_is_up_to_date_and_every_form_is_read() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(), "run `make docs`"
    assert "**no**" not in text
