"""Functions that a view calls as the database says, and whose tables its definition was not read to reach.

The call may be of one of several functions of a name, or be behind an operator, a cast or an aggregate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.statement import Completeness, StatementLineage
from lineage.model.text.name_lists import name_list
from lineage_ingest.live_database.objects import LiveDatabase, LiveRelation
from lineage_ingest.live_database.stated_text import function_name

__all__ = ["FunctionReads", "function_reads", "with_called_functions"]

FunctionReads = Mapping[int, tuple[str, Sequence[str]]]
"""By oid of a function: its signature, and the tables that its queries read."""


def function_reads(database: LiveDatabase, statements: Mapping[str, Iterable[StatementLineage]]) -> FunctionReads:
    """Return what the functions of a database read, given the statements of its texts by name."""
    found = {}
    for function in database.functions:
        listed = statements.get(function_name(database, function), ())
        reads = dict.fromkeys(name for one in listed if one.target is None for name in one.sources)
        if reads:
            found[function.oid] = (function.signature, tuple(reads))
    return found


def with_called_functions(
    relation: LiveRelation, statement: StatementLineage, functions: FunctionReads
) -> StatementLineage:
    """Return a view's statement with the tables that it reads through functions, partial if it had none of them."""
    known = set(statement.sources)
    missing: dict[str, None] = {}
    through = []
    for signature, reads in (functions[oid] for oid in relation.calls if oid in functions):
        if not known.issuperset(reads):
            through.append(signature)
            missing.update(dict.fromkeys(name for name in reads if name not in known))
    if not missing:
        return statement
    problem = Diagnostic(
        DiagnosticCode.NOT_FOLLOWED,
        Severity.WARNING,
        f"{relation.local_name} calls {name_list(through, 3)}: how it depends on what that reads is not followed",
        statement.span,
        "the tables are lineage at table level",
    )
    partial = statement.completeness is Completeness.FULL
    return replace(
        statement,
        sources=[*statement.sources, *missing],
        diagnostics=[*statement.diagnostics, problem],
        completeness=Completeness.PARTIAL if partial else statement.completeness,
        reason=f"{problem.code}: {problem.message}" if partial else statement.reason,
    )
