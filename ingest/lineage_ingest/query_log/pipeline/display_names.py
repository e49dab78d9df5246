"""The names that SQL has for tables, in what people read: while a log is read, names tell versions of tables apart."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from lineage.model.batch import DiagnosticRecord
from lineage.model.names import plain_name
from lineage_ingest.query_log.pipeline.extraction_units import LogStatement

__all__ = ["DisplayNames"]


class DisplayNames:
    """Replaces the names of versions of tables by the names in the unit's SQL."""

    def __init__(self, parts: Iterable[LogStatement]) -> None:
        named = {own: full for part in parts for full, own in part.bindings.versions}
        self._named = [(re.compile(rf'(?<![\w."]){re.escape(own)}(?![\w"\x01])'), full) for own, full in named.items()]

    def text(self, text: str) -> str:
        """Return a text with the names of the SQL."""
        for own, full in self._named:
            text = full.join(own.split(text))
        return plain_name(text)

    def diagnostic(self, record: DiagnosticRecord) -> DiagnosticRecord:
        """Return a diagnostic with the names of the SQL."""
        found = record.diagnostic
        plain = replace(found, message=self.text(found.message), hint=self.text(found.hint or "") or found.hint)
        return replace(record, diagnostic=plain)
