"""Statements that only pgaudit or auto_explain log, as messages of PostgreSQL's own statement logging.

https://github.com/pgaudit/pgaudit#format and https://www.postgresql.org/docs/current/auto-explain.html

Traps:
- A session whose statements the server logs itself has them twice: those of the extensions are not used.
- pgaudit logs a statement once for each object (`pgaudit.log_relation`); auto_explain logs those that ran long enough.
"""

from __future__ import annotations

import csv
import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["statements_of_extensions"]

_EXTENSION = r"^(?:AUDIT: (?:SESSION|OBJECT),|duration: [\d.]+ ms  plan:)"
_PLAN = re.compile(r"(?s)^(duration: [\d.]+ ms)  plan:\s*(?:\{\s*\"Query Text\": |Query Text: )(.*)$")
_NODE = re.compile(r"\n(?=[^\n]*\(cost=|[^\n]*\(actual )")
_STATEMENT = 7
"""The index of the statement in pgaudit's fields; the first is the class."""


def statements_of_extensions(message: Any, session: Any, is_run: Any) -> Any:
    """Return the messages with those of the extensions as `statement: …`, in sessions that have no other runs."""
    found = pc.fill_null(pc.match_substring_regex(message, _EXTENSION), False)
    if not pc.any(found, min_count=0).as_py():
        return message
    logged = set(session.filter(is_run).to_pylist())
    listed = message.to_pylist()
    seen: set[tuple[object, ...]] = set()
    owners = session.to_pylist()
    for at in pc.indices_nonzero(found).to_pylist():
        if owners[at] not in logged:
            listed[at] = _statement(listed[at], owners[at], seen) or listed[at]
    return pa.array(listed, pa.string())


def _statement(message: str, owner: str | None, seen: set[tuple[object, ...]]) -> str | None:
    if (plan := _PLAN.match(message)) is not None:
        return f"{plan[1]}  statement: {_NODE.split(plan[2], maxsplit=1)[0].strip()}"
    fields = next(csv.reader([message.removeprefix("AUDIT: ")], strict=False), [])
    if len(fields) <= _STATEMENT or fields[_STATEMENT].startswith("<"):  # <not logged>, <previously logged>
        return None
    key = owner, *fields[1:3], fields[_STATEMENT]
    if key in seen:
        return None
    seen.add(key)
    return f"statement: {fields[_STATEMENT]}"
