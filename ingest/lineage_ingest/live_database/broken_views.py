"""Views, functions and triggers that fail, since what they name is gone: their lineage is partial, with a warning.

A database keeps them, and is read in full; so they are no errors of an ingest, in whichever product.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.statement import StatementLineage
from lineage.model.text.name_lists import name_list
from lineage_ingest.live_database.objects import LiveRelation

__all__ = ["over_broken_view", "unreadable_view", "views_over_broken_ones", "without_tables"]


def without_tables(name: str, statement: StatementLineage, missing: list[str]) -> StatementLineage:
    """Return the statement of an object that names tables which the database does not have, with a diagnostic."""
    return _warn(
        statement,
        DiagnosticCode.UNKNOWN_TABLE,
        f"{name} names {name_list(missing, 3)}, which the database does not have",
        "it was dropped or renamed, or is temporary: what names it fails without it",
    )


def over_broken_view(name: str, statement: StatementLineage, view: str) -> StatementLineage:
    """Return the statement of a view that names a view which fails, with a diagnostic."""
    return _warn(
        statement,
        DiagnosticCode.UNKNOWN_TABLE,
        f"{name} names {view}, which fails itself: the database does not have what that names",
        "it fails, too, until that view is mended",
    )


def unreadable_view(relation: LiveRelation, statement: StatementLineage) -> StatementLineage:
    """Return the statement of a view whose columns the database cannot tell, with a diagnostic."""
    return _warn(
        statement,
        DiagnosticCode.CATALOG_UNREADABLE,
        f"the columns of {relation.local_name} are not known: {relation.problem}",
        "what it reads was dropped or renamed, or needs an extension: mend it or drop it",
    )


def views_over_broken_ones(
    statements: Mapping[str, Sequence[StatementLineage]], broken: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield the views that name a broken one, directly or by others, each with the view that it names.

    All are given by their full names; `statements` are those of views that are not known to be broken.
    """
    found, waiting = set(broken), dict(statements)
    while over := {
        view: named
        for view, listed in waiting.items()
        if (named := next((name for one in listed for name in one.sources if name in found), None)) is not None
    }:
        yield from over.items()
        found |= over.keys()
        waiting = {view: listed for view, listed in waiting.items() if view not in over}


def _warn(statement: StatementLineage, code: DiagnosticCode, message: str, hint: str) -> StatementLineage:
    return statement.in_doubt(Diagnostic(code, Severity.WARNING, message, statement.span, hint))
