"""Lineage of statements without a syntax tree: table by table, from their keywords, or none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlglot import exp

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.dialect import Dialect
from lineage.model.names import Naming, parse_table_name
from lineage.model.spelling import Spelled
from lineage.model.statement import Completeness, StatementLineage
from lineage.sql.parse.parsed import ParsedStatement, ReadFrom
from lineage.sql.parse.table_level import trace_tokens
from lineage.sql.plugins import installed_rules
from lineage.sql.procedural import HOLE, ProgramStep
from lineage.sql.resolve.coverage.unnamed_tables import unnamed_tables_diagnostic
from lineage.sql.resolve.edges import completeness_of

__all__ = ["lineage_from_keywords", "lineage_without_tree", "spellings_of"]


def lineage_without_tree(parsed: ParsedStatement, naming: Naming) -> StatementLineage:
    """Return the lineage of a statement whose tree is not resolved, depending on how it was read."""
    if parsed.read_from is ReadFrom.STEP and parsed.step is not None:
        return _of_step(parsed, parsed.step, naming)
    if parsed.read_from is ReadFrom.INSTALLED_RULE:
        return _by_installed_rule(parsed, naming)
    if parsed.read_from is ReadFrom.NO_LINEAGE:
        return _without_lineage(parsed, naming.dialect)
    problems = [parsed.problem] if parsed.problem is not None else []
    if parsed.read_from is ReadFrom.KEYWORDS:
        return lineage_from_keywords(parsed, naming, problems)
    return StatementLineage(
        "UNKNOWN",
        diagnostics=problems,
        completeness=Completeness.NONE,
        reason=str(problems[0].code if problems else DiagnosticCode.NOT_SQL),
        span=parsed.span,
    )


def _without_lineage(parsed: ParsedStatement, dialect: Dialect) -> StatementLineage:
    """Return a statement that reads and writes no rows, with what it does to tables that it does not name."""
    statement = StatementLineage(_operation(parsed), span=parsed.span)
    problem = unnamed_tables_diagnostic(parsed.tokens, parsed.span, dialect)
    if problem is None:
        return statement
    completeness, reason = completeness_of([problem])
    return replace(statement, diagnostics=[problem], completeness=completeness, reason=reason)


def _operation(parsed: ParsedStatement) -> str:
    """Return the operation of a statement without lineage: its command, or its first word if it does not parse."""
    if isinstance(parsed.tree, exp.Command):
        return str(parsed.tree.this).upper()
    if parsed.tree is None or isinstance(parsed.tree, exp.Alias | exp.Column):  # `CLUSTER t` parses as `a AS b`
        return str(parsed.tokens[0].text).upper()
    return type(parsed.tree).__name__.upper()


def _of_step(parsed: ParsedStatement, step: ProgramStep, naming: Naming) -> StatementLineage:
    """Return the lineage of a step without complete SQL: a routine's header, or partly known dynamic SQL."""
    if not step.dynamic:
        return StatementLineage(step.operation, span=parsed.span)
    problem = Diagnostic(
        DiagnosticCode.DYNAMIC_SQL,
        Severity.WARNING,
        "the SQL is built at run time: only the tables that its constant parts name are traced",
        parsed.span,
        "constant SQL, and SQL concatenated from constants, is resolved in full",
    )
    statement = lineage_from_keywords(parsed, naming, [problem])
    hole = naming.dialect.fold_table(HOLE)
    return replace(
        statement,
        target=None if hole in (statement.target or "") else statement.target,
        sources=[name for name in statement.sources if hole not in name],
    )


def _by_installed_rule(parsed: ParsedStatement, naming: Naming) -> StatementLineage:
    """Return table-level lineage of a statement for which an installed package has a rule."""
    keyword = parsed.tokens[0].text.upper()
    text = parsed.text[parsed.span.start : parsed.span.end]
    found = installed_rules().commands[keyword].search(text)
    groups = found.groupdict() if found is not None else {}

    def full(name: str | None) -> list[str]:
        return [naming.qualify(parse_table_name(name, naming.dialect))] if name else []

    upstream, destination = full(groups.get("upstream")), full(groups.get("destination"))
    return StatementLineage(
        keyword,
        target=str(destination[0]) if destination else None,
        sources=list(map(str, upstream)),
        completeness=Completeness.TABLES if upstream or destination else Completeness.NONE,
        reason=f"an installed rule resolves {keyword} at table level only",
        span=parsed.span,
        spellings=spellings_of([*destination, *upstream]),
    )


def lineage_from_keywords(parsed: ParsedStatement, naming: Naming, diagnostics: list[Diagnostic]) -> StatementLineage:
    """Return table-level lineage found by the keywords of a statement."""
    trace = trace_tokens(parsed.tokens, naming)
    found = bool(trace.upstream or trace.destination)
    if (
        parsed.tokens
        and not found
        and diagnostics[-1].code is DiagnosticCode.PARSE_ERROR
        and trace.operation == "UNKNOWN"
    ):
        first = diagnostics[-1]
        diagnostics = [*diagnostics[:-1], Diagnostic(DiagnosticCode.NOT_SQL, Severity.ERROR, first.message, first.span)]
    return StatementLineage(
        operation=trace.operation,
        target=None if trace.destination is None else str(trace.destination),
        sources=list(map(str, trace.upstream)),
        diagnostics=diagnostics,
        completeness=Completeness.TABLES if found else Completeness.NONE,
        reason=f"{diagnostics[-1].code}: {diagnostics[-1].message}",
        span=parsed.span,
        spellings=spellings_of([trace.destination, *trace.upstream]),
    )


def spellings_of(names: Iterable[str | None]) -> tuple[tuple[str, str], ...]:
    """Return the names of tables whose spelling differs from the folded name, with that spelling."""
    return tuple((str(name), name.spelling) for name in names if isinstance(name, Spelled))
