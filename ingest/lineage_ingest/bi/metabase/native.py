"""Native queries: SQL with `{{variables}}`, `[[optional clauses]]`, `{{#12}}` and `{{snippet: name}}`.

https://www.metabase.com/docs/latest/questions/native-editor/sql-parameters
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

from lineage.model.diagnostics import Diagnostic, Severity
from lineage_ingest.bi.exported import not_read
from lineage_ingest.bi.metabase.metadata import CardReference
from lineage_ingest.bi.templates.sql_templates import TEMPLATED, is_in_name
from lineage_ingest.bi.templates.tags_in_sql import TagPlace, replace_tags
from lineage_ingest.bi.templates.written_sql import LITERAL

__all__ = ["NativeReferences", "write_native"]

_TAG = re.compile(r"\{\{(?P<name>[^{}]*)\}\}|(?P<optional>\[\[|\]\])")
_CARD = re.compile(r"#\s*(\d+)(?:-.*)?$", re.DOTALL)
_GROUPING = re.compile(r"mb\.time_grouping\(\s*[\"'][^\"']*[\"']\s*,\s*[\"']([^\"']+)[\"']\s*\)")
_MAX_SNIPPETS = 20
_NUMBER = "0"


class NativeReferences(Protocol):
    """What a native query can refer to, and where problems go."""

    def card(self, one: Any) -> CardReference | None:
        """Return a card of the export."""

    def read_card(self, card: CardReference) -> str:
        """Return the reference to a card, and note that it is read."""

    def table(self, one: Any) -> str | None:
        """Return the reference to a table; None if it is not in the export."""

    def snippet(self, name: str) -> str | None:
        """Return the text of a snippet by its name."""

    def field_condition(self, clause: Any, alias: str | None) -> str | None:
        """Return the condition that a field filter becomes; None if its field is not known."""

    def report(self, problem: Diagnostic) -> None:
        """Add a problem."""


def write_native(sql: str, tags: Mapping[str, Any], writer: NativeReferences, dialect: str, depth: int = 0) -> str:
    """Return the SQL with each tag replaced; optional clauses are kept, as if all their variables had values."""

    def write(match: re.Match[str], place: TagPlace) -> str:
        if match["optional"] is not None:
            if match["optional"] == "[[" and place is TagPlace.CODE:
                message = "an optional clause ([[…]]) is read as if its variable had a value"
                writer.report(not_read(message, severity=Severity.INFO))
            return " "
        if place is TagPlace.COMMENT:
            return " "
        if place is TagPlace.STRING:
            return "?"
        written = _tag(match["name"].strip(), tags, writer, dialect, depth)
        is_value = written in (LITERAL, _NUMBER)
        is_name = place is TagPlace.NAME or is_in_name(sql, match.start(), match.end())
        return TEMPLATED if is_value and is_name else written

    return replace_tags(sql, dialect, _TAG, write)


def _tag(name: str, tags: Mapping[str, Any], writer: NativeReferences, dialect: str, depth: int) -> str:
    tag = tags.get(name)
    tag = tag if isinstance(tag, Mapping) else {}
    kind = str(tag.get("type") or "")
    if name.startswith("#") or kind == "card":
        number = _CARD.match(name)
        card = writer.card(tag.get("card-id") if tag.get("card-id") is not None else number and int(number[1]))
        if card is None:
            writer.report(not_read(f"the card {{{{{name}}}}} is not in the export", "add the JSON of /api/card"))
            return "(SELECT NULL)"
        return f"(SELECT * FROM {writer.read_card(card)})"  # noqa: S608  text for our resolver
    if name.lower().startswith("snippet:") or kind == "snippet":
        own = str(tag.get("snippet-name") or name.partition(":")[2].strip())
        text = writer.snippet(own)
        if text is None or depth > _MAX_SNIPPETS:
            hint = "add the JSON of /api/native-query-snippet"
            writer.report(not_read(f"the snippet {own!r} is not in the export", hint))
            return " "
        return write_native(text, tags, writer, dialect, depth + 1)
    grouping = _GROUPING.fullmatch(name)
    if grouping is not None:
        return f"mbql_bucket({grouping[1]})"
    if kind == "table":
        table = writer.table(tag.get("table-id"))
        if table is None:
            writer.report(not_read(f"the table of the variable {name!r} is not known"))
        return table or "(SELECT NULL)"
    if kind == "dimension":
        condition = writer.field_condition(tag.get("dimension"), str(tag["alias"]) if tag.get("alias") else None)
        if condition is not None:
            return condition
        writer.report(not_read(f"the field of the filter {name!r} is not in the export"))
        return "TRUE"
    if kind not in ("", "text", "number", "date", "boolean"):
        writer.report(not_read(f"a variable of type {kind!r} is not known"))
    if not tag:
        message = f"the variable {name!r} is not described: a value is assumed"
        writer.report(not_read(message, severity=Severity.WARNING))
    return _NUMBER if kind == "number" else LITERAL
