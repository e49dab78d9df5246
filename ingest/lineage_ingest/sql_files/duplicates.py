"""Files of one ingest that define the same table or view: what both say is kept, and that is said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.statement import DatasetKind, StatementLineage
from lineage_ingest.renaming import table_after

__all__ = ["find_duplicate_definitions"]


def find_duplicate_definitions(
    statements: Mapping[str, Iterable[StatementLineage]], sources: Mapping[str, str]
) -> Iterator[tuple[str, Diagnostic]]:
    """Yield a diagnostic for each file but the first that defines what others define, too, with the file's name.

    `statements` are those of each file, `sources` is how people call it. A definition that a later file drops or
    replaces has ended, and says so itself.
    """
    found: dict[str, dict[str, StatementLineage]] = {}
    for file, listed in statements.items():
        for statement in listed:
            name = table_after(statement)
            if name is not None and _lasts(statement):
                found.setdefault(name, {}).setdefault(file, statement)
    for name, by_file in found.items():
        if len(by_file) == 1:
            continue
        _, *others = by_file
        for file in others:
            rest = ", ".join(sources[one] for one in by_file if one != file)
            yield (
                file,
                Diagnostic(
                    DiagnosticCode.DEFINED_TWICE,
                    Severity.WARNING,
                    f"{name} is defined in {sources[file]} and in {rest}: the lineage of all of them is kept",
                    by_file[file].span,
                    "if they are different tables, say their schemas (--default-schema), or ingest them apart",
                ),
            )


def _lasts(statement: StatementLineage) -> bool:
    replaced = any(one.code is DiagnosticCode.REPLACED_LATER for one in statement.diagnostics)
    return statement.defines and statement.target_kind is not DatasetKind.TEMPORARY and not replaced
