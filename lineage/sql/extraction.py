"""Resolve one parsed statement into its lineage; `extract` does so for each statement of a text separately."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import lru_cache, partial
from pathlib import Path

from sqlglot import exp

import lineage.sql.resolve.rules  # noqa: F401  registers the rules
from lineage.catalog import Catalog
from lineage.frozen import frozen
from lineage.garbage_collection import seldom_collecting
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.model.dialect import Dialect
from lineage.model.dialects import dialect_named
from lineage.model.names import Naming, split_name
from lineage.model.statement import Completeness, DatasetKind, StatementLineage
from lineage.sql.budget import Budget, BudgetExceededError
from lineage.sql.parse.parsed import ParsedStatement, ReadFrom
from lineage.sql.parse.placeholders import name_this
from lineage.sql.parse.recovering.fallbacks import read_without_tree
from lineage.sql.parse.statements import parse_statements
from lineage.sql.parse.table_level import trace_tokens
from lineage.sql.parse.trees import take_apart
from lineage.sql.plugins import installed_rules
from lineage.sql.policies.policy_statements import policy_statements
from lineage.sql.procedural import ProgramStep
from lineage.sql.resolve.calls.functions import FunctionEffects
from lineage.sql.resolve.calls.procedure_calls import defined_procedures, with_unknown_procedure
from lineage.sql.resolve.column_names.unnamed_column import UncertainName
from lineage.sql.resolve.coverage.accounting import STATEMENTS, account
from lineage.sql.resolve.coverage.unfollowed_variables import UnfollowedVariables
from lineage.sql.resolve.coverage.unnamed_tables import unnamed_tables_diagnostic
from lineage.sql.resolve.edges import completeness_of, edge_count, edges_of
from lineage.sql.resolve.relations import Relation
from lineage.sql.resolve.resolver import RELATION_RULES, Resolver, SetOperationReferences
from lineage.sql.resolve.statements import (
    STATEMENT_RULES,
    Outcome,
    assigned_within,
    define_by_query,
    step_outcome,
    variable_scope,
    write,
)
from lineage.sql.resolve.statements.outcome_checks import (
    check_changed_table,
    read_returning,
    report_uncertain_names,
)
from lineage.sql.resolve.tables import CatalogTables, NeedsDefinitionError, TableSource
from lineage.sql.resolve.without_tree import lineage_from_keywords, lineage_without_tree, spellings_of

__all__ = ["ExtractionOptions", "extract", "options_for", "resolve_statement"]


@frozen
class ExtractionOptions:
    """How names are qualified, which variant of the rules applies, and the budget of a statement."""

    naming: Naming
    functions: FunctionEffects = field(default_factory=FunctionEffects.load)
    set_operation_references: SetOperationReferences = "exact"
    budget: Budget = field(default_factory=Budget)
    watch: Callable[[ParsedStatement, Resolver], None] | None = None
    """Called with each statement once it is resolved, while its tree is whole: how editors read its query blocks."""


def options_for(
    dialect: str | Dialect,
    *,
    namespace: str = "",
    default_database: str | None = None,
    default_schema: str | None = None,
    set_operation_references: SetOperationReferences = "exact",
    functions: Iterable[str | Path] = (),
    budget: Budget | None = None,
) -> ExtractionOptions:
    """Return options, with the default database and schema folded as the dialect folds names.

    `functions` are files that list masking and aggregate functions, in the format of
    `lineage/sql/resolve/calls/functions.toml`.

    Raises:
        UnknownDialectError: no dialect has that name.
        ValueError: `set_operation_references` is neither "exact" nor "paper".
        FunctionsFileError: a file of functions has another format.
        OSError: a file of functions cannot be read.
    """
    if set_operation_references not in ("exact", "paper"):
        message = f"set_operation_references: found {set_operation_references!r}, expected 'exact' or 'paper'"
        raise ValueError(message)
    if not functions and budget is None:
        names = (dialect, namespace, default_database, default_schema)
        return _default_options(installed_rules(), *names, set_operation_references)
    naming = _naming(dialect, namespace, default_database, default_schema)
    effects = FunctionEffects.load(naming.dialect.name, functions)
    return ExtractionOptions(naming, effects, set_operation_references, budget if budget is not None else _BUDGET)


_BUDGET = Budget()


@lru_cache(maxsize=256)
def _default_options(
    _rules: object,  # what is loaded depends on them
    dialect: str | Dialect,
    namespace: str,
    default_database: str | None,
    default_schema: str | None,
    set_operation_references: SetOperationReferences,
) -> ExtractionOptions:
    naming = _naming(dialect, namespace, default_database, default_schema)
    return ExtractionOptions(naming, FunctionEffects.load(naming.dialect.name), set_operation_references, _BUDGET)


@lru_cache(maxsize=256)
def _naming(dialect: str | Dialect, namespace: str, default_database: str | None, default_schema: str | None) -> Naming:
    found = dialect_named(dialect)
    database, schema = (found.fold_table(part) if part else None for part in (default_database, default_schema))
    return Naming(found, namespace, database, schema)


def extract(
    sql: str,
    dialect: str | Dialect = "ansi",
    catalog: Catalog | None = None,
    *,
    namespace: str = "",
    default_database: str | None = None,
    default_schema: str | None = None,
    set_operation_references: SetOperationReferences = "exact",
    functions: Iterable[str | Path] = (),
    budget: Budget | None = None,
) -> list[StatementLineage]:
    """Return the lineage of each statement of a text, resolved separately. Invalid SQL yields diagnostics, not errors.

    `functions` are files that list masking and aggregate functions. A statement that exceeds the `budget` gets
    table-level lineage and a diagnostic.

    >>> [statement] = extract("SELECT amount * 2 AS twice FROM shop.orders WHERE paid", "postgres")
    >>> for edge in statement.edges:
    ...     print(edge)
    shop.orders.amount -> twice [TRANSFORMATION]
    shop.orders.paid ~> * [FILTER]

    Raises:
        TypeError: `sql` is no text.
        UnknownDialectError: no dialect has that name.
        ValueError: `set_operation_references` is neither "exact" nor "paper".
    """
    if not isinstance(sql, str):
        raise TypeError(f"sql must be a text (str), not {type(sql).__name__}; extract_script reads files and folders")
    options = options_for(
        dialect,
        namespace=namespace,
        default_database=default_database,
        default_schema=default_schema,
        set_operation_references=set_operation_references,
        functions=functions,
        budget=budget,
    )
    given = (catalog if catalog is not None else Catalog()).prepare([sql])
    tables = CatalogTables(given.qualified(options.naming), options.naming)
    variables: dict[str, Relation | None] = {}
    found: list[StatementLineage] = []
    procedures = partial(_procedures_of, sql)
    unfollowed = UnfollowedVariables(options.naming.dialect)
    with seldom_collecting():  # no tree is left to the collector
        for statement in parse_statements(sql, options.naming.dialect, options.budget):
            if statement.step is not None:
                declared = (name for name, _ in statement.step.declares)
                variables.update(dict.fromkeys((*declared, *statement.step.assigns)))
            lineage = resolve_statement(statement, options, tables, variables=variables)[0]
            found.append(with_unknown_procedure(lineage, statement.text, procedures, options.naming.dialect))
            unfollowed.add(statement)
            if statement.tree is not None:
                take_apart(statement.tree)
    return unfollowed.report(found)


@lru_cache(maxsize=1)
def _procedures_of(text: str) -> frozenset[str]:
    return defined_procedures([text])


def resolve_statement(
    parsed: ParsedStatement,
    options: ExtractionOptions,
    tables: TableSource,
    query_target: str | None = None,
    variables: Mapping[str, Relation | None] | None = None,
    *,
    rounds: int = 8,
) -> tuple[StatementLineage, Outcome | None]:
    """Return a statement's lineage, and the outcome of its rule if one applied.

    `query_target` is the dataset that a bare query defines (the only statement of a file); `variables` are the
    visible variables with the relations that they hold. A statement that reads a variable that it assigns is resolved
    again, up to `rounds` times, as its later rows find the variable.

    Raises:
        NeedsDefinitionError: another statement of the script must be resolved first.
    """
    lineage, outcome = _resolve(parsed, options, tables, query_target, variables, rounds=rounds)
    try:
        policies, problem = policy_statements(
            parsed, options.naming, tables.existing_name, options.functions, options.budget
        )
    except NeedsDefinitionError:
        raise
    except Exception as error:  # noqa: BLE001  a bug here loses what a statement says of policies, not its lineage
        message = f"internal error in reading policies: {type(error).__name__} at {_place(error)}"
        policies, problem = (), Diagnostic(DiagnosticCode.INTERNAL_ERROR, Severity.WARNING, message, parsed.span)
    if lineage.defines and lineage.target is not None:  # the statement names its target by the name before it
        policies = tuple(replace(one, table=lineage.target) if one.table is not None else one for one in policies)
    if policies or problem is not None:
        problems = [*lineage.diagnostics, *([problem] if problem is not None else [])]
        lineage = replace(lineage, policies=policies, diagnostics=problems)
    return lineage, outcome


def _resolve(
    parsed: ParsedStatement,
    options: ExtractionOptions,
    tables: TableSource,
    query_target: str | None,
    variables: Mapping[str, Relation | None] | None,
    *,
    rounds: int,
) -> tuple[StatementLineage, Outcome | None]:
    """Return a statement's lineage, and the outcome of its rule, without what it says of policies."""
    tree = parsed.tree
    if tree is None or type(tree) not in STATEMENT_RULES:
        if parsed.read_from is ReadFrom.TREE:
            has_rows = type(tree) in STATEMENTS
            parsed = read_without_tree(parsed, options.naming.dialect, options.budget, has_rows=has_rows)
        return lineage_without_tree(parsed, options.naming), None
    if query_target is not None and "_this_" in parsed.text:
        name_this(tree, exp.Table(**dict(zip(("this", "db", "catalog"), _identifiers(query_target), strict=False))))
    resolver = Resolver(
        options.naming,
        tables,
        options.functions,
        text=parsed.text,
        tokens=parsed.tokens,
        write=write,
        set_operation_references=options.set_operation_references,
        budget=options.budget,
        watched=options.watch is not None,
    )
    if variables:
        resolver.outermost = variable_scope(resolver, variables)
        resolver.variable_places = parsed.variable_spans()
    resolver.diagnostics.extend(parsed.doubts)
    if isinstance(tree, exp.Drop) and (
        problem := unnamed_tables_diagnostic(parsed.tokens, parsed.span, options.naming.dialect)
    ):
        resolver.diagnostics.append(problem)
    try:
        for parts in parsed.also_reads:
            resolver.reads.setdefault(tables.existing_name(parts))
        outcome = _outcome_of(resolver, tree, parsed.step, query_target)
        later = assigned_within(resolver, outcome, variables or {})
        if later is not None and rounds:
            return _resolve(parsed, options, tables, query_target, later, rounds=rounds - 1)
        if parsed.problem is not None:
            _complete(parsed, resolver, outcome)
        options.budget.check_edges(edge_count(outcome, options.budget.edges))
        edges, row_references = edges_of(outcome, parsed.span)
        if options.watch is not None:
            options.watch(parsed, resolver)
    except NeedsDefinitionError:
        raise
    except BudgetExceededError as error:
        hint = "raise the limit with --budget, or split the statement"
        problem = Diagnostic(error.code, Severity.ERROR, error.message, parsed.span, hint)
        return lineage_from_keywords(parsed, options.naming, [*resolver.diagnostics, problem]), None
    except RecursionError:
        message = "the statement nests queries too deeply to resolve"
        problem = Diagnostic(DiagnosticCode.NESTING_TOO_DEEP, Severity.ERROR, message, parsed.span)
        return lineage_from_keywords(parsed, options.naming, [*resolver.diagnostics, problem]), None
    except Exception as error:  # noqa: BLE001  the only boundary: a bug here fails one statement, not the batch
        message = f"internal error in the extraction: {type(error).__name__} at {_place(error)}"
        hint = "please report this bug with the statement, its names and literals replaced"
        problem = Diagnostic(DiagnosticCode.INTERNAL_ERROR, Severity.ERROR, message, parsed.span, hint)
        return lineage_from_keywords(parsed, options.naming, [*resolver.diagnostics, problem]), None
    finally:
        resolver.outermost = resolver.around = None  # a cycle, which would keep the tokens
    completeness, reason = completeness_of(resolver.diagnostics)
    if parsed.read_as is not None:
        resolver.diagnostics.append(_guess_diagnostic(parsed.read_as, parsed.span))
    if parsed.problem is not None and not edges and not outcome.schema:
        completeness = Completeness.TABLES
        resolver.diagnostics = [parsed.problem]
    statement = StatementLineage(
        operation=outcome.operation,
        target=outcome.target,
        sources=list(resolver.reads),
        output_columns=outcome.output_columns,
        edges=edges,
        diagnostics=resolver.diagnostics,
        completeness=completeness,
        reason=reason,
        span=parsed.span,
        target_kind=outcome.target_kind,
        defines=outcome.defines,
        schema=outcome.schema,
        inferred=resolver.inferred_columns(edges),
        unresolved=tuple(resolver.unresolved),
        presumed=resolver.presumed,
        other_targets=_other_targets(outcome),
        changes=outcome.changes,
        altered=outcome.altered,
        added=outcome.added,
        temporary=_temporary_targets(outcome),
        row_references=row_references,
        spellings=tuple(resolver.spellings.items()),
        spells=outcome.defines or outcome.spells,
        returned=outcome.returned,
    )
    return statement, outcome


def _identifiers(name: str) -> Iterator[exp.Identifier]:
    """Yield the parts of a full name, the last one first."""
    for part, _ in reversed(list(split_name(name))):
        yield exp.to_identifier(part, quoted=True)


def _outcome_of(resolver: Resolver, tree: exp.Expr, step: ProgramStep | None, query_target: str | None) -> Outcome:
    """Return the outcome of a statement's rule."""
    if type(tree) not in RELATION_RULES:
        account(resolver, tree)
    rule, is_plain = STATEMENT_RULES[type(tree)], step is None or not step.operation
    outcome = rule(resolver, tree) if step is None or is_plain else step_outcome(resolver, tree, step)
    _finish_outcome(resolver, outcome, query_target)
    check_changed_table(resolver, tree, outcome)
    if is_plain and tree.args.get("returning") is not None:
        read_returning(resolver, tree, outcome)
    return outcome


def _guess_diagnostic(dialect: str, span: Span) -> Diagnostic:
    message = f"no dialect is given: {dialect} is assumed, because the text quotes names as {dialect} does"
    return Diagnostic(DiagnosticCode.DIALECT_GUESSED, Severity.INFO, message, span, "give the dialect with --dialect")


def _finish_outcome(resolver: Resolver, outcome: Outcome, query_target: str | None) -> None:
    """Add what the rule's queries write, the dataset that a bare query defines, and which targets are temporary."""
    outcome.others.extend(resolver.side_effects)
    if query_target is not None:
        define_by_query(outcome, query_target, resolver.repeated_name_mark)
    for written in (outcome, *outcome.others):
        if written.defines and UncertainName in map(type, written.names):
            report_uncertain_names(resolver, written)
        if written.target_kind is not DatasetKind.TABLE or written.target is None or written.defines:
            continue
        if resolver.is_temporary(written.target):
            written.target_kind = DatasetKind.TEMPORARY


def _temporary_targets(outcome: Outcome) -> tuple[str, ...]:
    """Return the temporary tables that a statement writes, in order."""
    return tuple(
        str(written.target)
        for written in (outcome, *outcome.others)
        if written.target_kind is DatasetKind.TEMPORARY and written.target is not None
    )


def _other_targets(outcome: Outcome) -> tuple[str, ...]:
    """Return the other datasets that a statement writes, besides its target, in order."""
    if not outcome.others:
        return ()
    found: dict[str, None] = {}
    stack = list(reversed(outcome.others))
    while stack:
        other = stack.pop()
        if other.target is not None and other.target != outcome.target:
            found[other.target] = None
        stack.extend(reversed(other.others))
    return tuple(found)


def _complete(parsed: ParsedStatement, resolver: Resolver, outcome: Outcome) -> None:
    """Complete a partly parsed statement from its keywords: its target, and tables in the parts left out."""
    if parsed.problem is not None:
        resolver.diagnostics.insert(0, parsed.problem)
    trace = trace_tokens(parsed.tokens, resolver.naming)
    if outcome.target is None and trace.destination is not None:
        outcome.target, outcome.operation = str(trace.destination), trace.operation
    for name in trace.upstream:
        resolver.reads.setdefault(str(name))
    for name, spelling in spellings_of([trace.destination, *trace.upstream]):
        resolver.spellings.setdefault(name, spelling)


def _place(error: Exception) -> str:
    """Return where an error was raised. Its message is left out, because it may quote SQL."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "?"
    return f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"
