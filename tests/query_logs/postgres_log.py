"""Rows of PostgreSQL's jsonlog for tests, as the server writes them in its different settings."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

__all__ = ["Row", "json_lines"]

_BEGIN = datetime(2026, 3, 1, 10, tzinfo=UTC)


class Row(NamedTuple):
    """A row of the log: its message, and when it was written."""

    message: str
    ms: int = 0
    session: str = "65bb6f00.1267"
    severity: str = "LOG"
    more: dict[str, Any] = {}  # noqa: RUF012  never changed


def json_lines(rows: Iterable[Row]) -> str:
    """Return a jsonlog; a session's rows are numbered in their order."""
    numbers: dict[str, int] = {}
    lines = []
    for row in rows:
        numbers[row.session] = numbers.get(row.session, 0) + 1
        written = {
            "timestamp": (_BEGIN + timedelta(milliseconds=row.ms)).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + " GMT",
            "user": "ann",
            "dbname": "shop",
            "session_id": row.session,
            "line_num": numbers[row.session],
            "error_severity": row.severity,
            "message": row.message,
            **row.more,
        }
        lines.append(json.dumps({name: value for name, value in written.items() if value is not None}) + "\n")
    return "".join(lines)
