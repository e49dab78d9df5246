"""Write docs/query_log_forms.md, the supported formats of query logs, from the samples: `make docs`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.query_logs.forms import Form, forms, read_edges, read_rows, usual_forms

PAGE = Path(__file__).with_name("query_log_forms.md")

_HEAD = """# Query log forms

Each row is a sample in [tests/data/query_logs](../tests/data/query_logs). It is read as `lineage ingest log` reads it,
and compared with results written by hand: rows with their texts and status, order, users, times, and the edges between
columns. The samples of ClickHouse's formats and of DuckDB come from real servers; the others have the form that the
linked page documents. `-` means that the log does not have it. Compression (gzip, zstd, lz4, bz2, Snappy), encoding
(UTF-8, UTF-16) and file name make no difference. [Query logs](query_logs.md) explains the sources.

`make docs` writes this page; a test fails if it is out of date.

| source | form | rows | order | users | times | lineage |
|---|---|---|---|---|---|---|
"""
Rows = list[dict[str, Any]]


def page() -> str:
    """Return the text of the page."""
    listed = [*usual_forms(), *forms()]
    order = {form.source: number for number, form in enumerate(listed[::-1])}
    lines = [_line(form) for form in sorted(listed, key=lambda form: -order[form.source])]
    return _HEAD + "\n".join(lines) + "\n"


def _line(form: Form) -> str:
    rows, expected = read_rows(form), form.expected_rows
    with tempfile.TemporaryDirectory() as folder:
        edges = read_edges(form, Path(folder) / "graph.db")
    cells = (
        _cell(sorted(_texts(rows)), sorted(_texts(expected))),
        _cell(_of(rows, "query_text"), _of(expected, "query_text")),
        _cell(_of(rows, "user"), _of(expected, "user")),
        _cell(_times(rows), _times(expected)),
        _cell(edges, form.expected_edges),
    )
    title = f"[{form.title}]({form.page})" if form.page else form.title
    return f"| `{form.source}` | {title} | {' | '.join(cells)} |"


def _cell(found: list[Any], expected: list[Any]) -> str:
    if not any(expected):
        return "-" if found == expected else "**no**"
    return "yes" if found == expected else "**no**"


def _texts(rows: Rows) -> list[str]:
    return [f"{row.get('query_text')} {row.get('status')} {row.get('problem')}" for row in rows]


def _of(rows: Rows, field: str) -> list[Any]:
    return [row.get(field) for row in rows]


def _times(rows: Rows) -> list[Any]:
    return [time for row in rows if (time := (row.get("started_at"), row.get("duration_us"))) != (None, None)]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
