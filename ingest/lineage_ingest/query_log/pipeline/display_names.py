"""Restores the table names of the SQL in messages: during extraction each version of a table has a name of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from lineage.model.batch import DiagnosticRecord
from lineage.model.names import plain_name
from lineage_ingest.query_log.pipeline.extraction_units import LogStatement

__all__ = ["DisplayNames"]


class DisplayNames:
    """Replaces the internal names of table versions with the names in the unit's SQL."""

    def __init__(self, parts: Iterable[LogStatement]) -> None:
        named = {own: full for part in parts for full, own in part.bindings.versions}
        self._named = [(re.compile(rf'(?<![\w."]){re.escape(own)}(?![\w"\x01])'), full) for own, full in named.items()]

    def text(self, text: str) -> str:
        """Return a text with the table names of the SQL."""
        for own, full in self._named:
            text = full.join(own.split(text))
        return plain_name(text)

    def diagnostic(self, record: DiagnosticRecord) -> DiagnosticRecord:
        """Return a diagnostic with the table names of the SQL in its message and hint."""
        found = record.diagnostic
        plain = replace(found, message=self.text(found.message), hint=self.text(found.hint or "") or found.hint)
        return replace(record, diagnostic=plain)
