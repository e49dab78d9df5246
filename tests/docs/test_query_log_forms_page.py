"""docs/query_log_forms.md is what the samples give when they are read."""

from __future__ import annotations

from docs.query_log_forms import PAGE, page


def test_the_page_is_up_to_date_and_every_form_is_read() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(), "run `make docs`"
    assert "**no**" not in text
