"""Diagnostics about tables that the last command of dbt made otherwise than the project's SQL says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.text.name_lists import name_list
from lineage.screen.listing import counted

__all__ = ["ReferredTables", "cloned"]


class ReferredTables:
    """The tables that models read by dbt's options: those of another environment, or parts of tables."""

    def __init__(self) -> None:
        self._deferred: dict[str, str] = {}
        """The tables of another environment, with what is read for them there."""
        self._in_part = 0

    def add(self, others: Mapping[str, str], *, is_part: bool) -> None:
        """Add a model that reads other tables for some, or parts of tables."""
        self._deferred.update(others)
        self._in_part += is_part

    def problems(self) -> Iterator[Diagnostic]:
        """Yield what is to be said of them."""
        if self._deferred:
            listed = name_list([f"{other} for {own}" for own, other in sorted(self._deferred.items())], 3)
            message = f"dbt deferred to another environment: models read {listed}"
            hint = "the lineage is that of this run; what was not built here may have no table of its own"
            yield Diagnostic(DiagnosticCode.BUILT_OTHERWISE, Severity.INFO, message, hint=hint)
        if self._in_part:
            message = (
                f"dbt compiled {counted(self._in_part, 'model')} for a part of the rows (--empty, --sample): "
                "the lineage is that of whole tables"
            )
            yield Diagnostic(DiagnosticCode.BUILT_OTHERWISE, Severity.INFO, message)


def cloned(tables: int) -> Diagnostic:
    """Return the diagnostic of tables that `dbt clone` made."""
    message = (
        f"`dbt clone` made {counted(tables, 'table')} copies of those of another environment: their lineage is shown "
        "as the models of this project define it"
    )
    hint = "build them, or ingest the other environment, to see how they were made"
    return Diagnostic(DiagnosticCode.BUILT_OTHERWISE, Severity.WARNING, message, hint=hint)
