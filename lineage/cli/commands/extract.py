"""`lineage extract` and `lineage tables`: lineage of SQL, without a store."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer

from lineage.catalog import Catalog
from lineage.cli.commands.report import measure, print_report
from lineage.cli.option_groups import with_option_groups
from lineage.cli.options import (
    CacheOption,
    DialectOption,
    JobsOption,
    SchemasFromOption,
    read_schemas,
)
from lineage.cli.shared_flags import ResolutionFlags, SchemaFlags, extraction_options
from lineage.cli.store_options import FormatOption
from lineage.garbage_collection import seldom_collecting
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.model.names import Naming
from lineage.model.spelling import as_written
from lineage.model.statement import Completeness, StatementLineage
from lineage.model.text.decoding import decode_sql
from lineage.screen.evidence import marked_line
from lineage.screen.formats import OutputFormat, print_listing
from lineage.screen.layout import Look
from lineage.screen.listing import console, counted, note
from lineage.screen.progress import progress_bar
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.script.parallel.processes import resolve_texts
from lineage.sql.script.reuse.saved_resolutions import SavedResolutions, folder_of
from lineage.worker_pool import available_processors

__all__ = ["extract", "tables"]

FilesArgument = Annotated[
    list[str] | None, typer.Argument(help="SQL files. `-` or no file reads standard input.", metavar="FILE")
]
ReportOption = Annotated[
    Path | None,
    typer.Option(
        "--report",
        help="Report how much SQL of a folder or JSON Lines file is resolved, and what would resolve the rest.",
        exists=True,
    ),
]
SqlOption = Annotated[str | None, typer.Option("--sql", "-q", help="SQL text, instead of files.")]


_EDGES = Look(
    names=("source", "target"),
    cuts=("subtype", "source"),
    phrases={"kind": "{}", "subtype": "{}", "target": "→ {}", "place": "at {}"},
)
_TABLES = Look(
    names=("destination", "other_destinations", "upstream"), cuts=("destination",), phrases={"place": "at {}"}
)


@with_option_groups()
def extract(
    given: SchemaFlags,
    resolution: ResolutionFlags,
    files: FilesArgument = None,
    sql: SqlOption = None,
    dialect: DialectOption = "ansi",
    report: ReportOption = None,
    store: SchemasFromOption = None,
    jobs: JobsOption = None,
    no_cache: CacheOption = False,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Show the column lineage of SQL. Nothing is stored or executed.

    Each line is one edge: the value flows (CONTRIBUTES), or it only influences the result (REFERENCES). If a statement
    cannot be resolved, its source and target tables are shown (FEEDS). Of several files, one is
    resolved again only if it, or what it depends on, has changed.

    Example: lineage extract -d postgres -q "CREATE VIEW v AS SELECT a + b AS c FROM t WHERE d"
    """
    options = extraction_options(dialect, given, resolution)
    if report is not None:
        schemas = read_schemas(given.catalog, options, store, refresh=given.refresh_catalog)
        with progress_bar() as progress:
            measured = measure(report, options, schemas, progress, jobs)
        print_report(measured, output)
        return
    texts, problems = _texts(files, sql)
    named = (*texts.values(), *texts)  # a query defines a table of its file's name
    schemas = read_schemas(given.catalog, options, store, named, refresh=given.refresh_catalog, cache=not no_cache)
    folder = None if no_cache else folder_of(texts)
    saved = SavedResolutions(folder, options) if folder is not None else None
    with seldom_collecting():
        statements = _resolve(texts, options, schemas, jobs, saved)
        with_file = len({statement.source for statement in statements}) > 1
        written = _written_names(statements, schemas, options.naming) if output.is_for_people else {}
        print_listing(
            ("statement", "operation", "source", "kind", "subtype", "target", "masking", "place"),
            (row for number, each in enumerate(statements, 1) for row in _rows(number, each, with_file, written)),
            output,
            _EDGES,
            values=lambda: [({"file": each.source} if each.source else {}) | each.to_dict() for each in statements],
            empty=f"no lineage in {counted(len(statements), 'statement')}" if statements else "",
        )
    if saved is not None and saved.resolved < len(texts):
        note(f"{saved.resolved:,} of {counted(len(texts), 'file')} resolved; the others are as in an earlier run")
    _finish(statements, problems, texts, dialect)


@with_option_groups()
def tables(
    given: SchemaFlags,
    files: FilesArgument = None,
    sql: SqlOption = None,
    dialect: DialectOption = "ansi",
    store: SchemasFromOption = None,
    jobs: JobsOption = None,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Show the tables that SQL reads and writes, statement by statement.

    Example: lineage tables -d snowflake etl/*.sql
    """
    options = extraction_options(dialect, given, ResolutionFlags())
    texts, problems = _texts(files, sql)
    schemas = read_schemas(given.catalog, options, store, (*texts.values(), *texts), refresh=given.refresh_catalog)
    statements = _resolve(texts, options, schemas, jobs)
    written = _written_names(statements, schemas, options.naming) if output.is_for_people else {}
    several = any(statement.other_targets for statement in statements)
    with_file = len({statement.source for statement in statements}) > 1
    rows = [
        (
            number,
            lineage.operation,
            None if lineage.target is None else written.get(lineage.target, lineage.target),
            *([[written.get(name, name) for name in lineage.other_targets]] if several else []),
            [written.get(name, name) for name in lineage.sources],
            _completeness_of_tables(lineage),
            *([_place(lineage, lineage.span, with_file)] if with_file else []),
        )
        for number, lineage in enumerate(statements, 1)
    ]
    others, place = ("other_destinations",) if several else (), ("place",) if with_file else ()
    columns = ("statement", "operation", "destination", *others, "upstream", "completeness", *place)
    print_listing(columns, rows, output, _TABLES)
    _finish(statements, problems, texts, dialect)


_OF_COLUMNS = frozenset(
    (DiagnosticCode.UNRESOLVED_STAR, DiagnosticCode.AMBIGUOUS_COLUMN, DiagnosticCode.UNKNOWN_COLUMN,
     DiagnosticCode.COLUMN_COUNT_MISMATCH, DiagnosticCode.TARGET_COLUMNS_UNKNOWN)
)  # fmt: skip
"""What is not known of columns does not make a statement's tables uncertain."""


def _completeness_of_tables(statement: StatementLineage) -> Completeness:
    """Return how complete a statement's list of tables is."""
    doubts = (each for each in statement.diagnostics if each.severity is not Severity.INFO)
    only_columns = all(each.code in _OF_COLUMNS for each in doubts)
    return (
        Completeness.FULL if statement.completeness is Completeness.PARTIAL and only_columns else statement.completeness
    )


def _resolve(
    texts: dict[str, str],
    options: ExtractionOptions,
    schemas: Catalog,
    jobs: int | None,
    saved: SavedResolutions | None = None,
) -> list[StatementLineage]:
    """Return the lineage of the statements; the progress is shown while it takes long."""
    with progress_bar() as progress:
        return resolve_texts(
            texts,
            options,
            schemas,
            jobs=jobs or available_processors(),
            progress=lambda done, total: progress("resolving", done, total),
            saved=saved,
        )


def _rows(
    number: int, statement: StatementLineage, with_file: bool, written: Mapping[str, str]
) -> Iterator[tuple[object, ...]]:
    """Yield a statement's edges as rows; without edges, its table-level lineage."""
    operation = statement.operation
    for edge in statement.edges:
        source = _name(edge.source.table, edge.source.column, written)
        target = _name(edge.target.table, getattr(edge.target, "column", None), written)
        place = _place(statement, edge.span, with_file)
        yield number, operation, source, edge.kind, edge.subtype, target, edge.masking, place
    if statement.completeness is Completeness.TABLES and statement.target and not statement.edges:
        place = _place(statement, statement.span, with_file)
        target = written.get(statement.target, statement.target)
        for source in statement.sources:
            yield number, operation, written.get(source, source), "FEEDS", None, target, None, place


def _written_names(statements: list[StatementLineage], schemas: Catalog, naming: Naming) -> dict[str, str]:
    """Return the spelling of table and column names: from definitions, else from a catalog, else from the first use.

    The key of a column is its table's name, a dot, and its own name.
    """
    spellings: dict[str, str] = {}
    for table in schemas.qualified(naming):
        spellings[table.name] = as_written(table.name)
        for column in table.columns:
            spellings[f"{table.name}.{column.name}"] = getattr(column.name, "spelling", column.name)
    for of_definitions in (True, False):
        for statement in statements:
            if statement.spells is of_definitions:
                for name, spelling in statement.written_names():
                    known = of_definitions and name not in statement.sources
                    spellings[name] = spelling if known else spellings.get(name, spelling)
    return spellings


def _place(statement: StatementLineage, span: Span | None, with_file: bool) -> str | None:
    if span is None:
        return None
    return f"{statement.source}:{span.line}:{span.column}" if with_file else f"{span.line}:{span.column}"


def _name(table: str | None, column: str | None, written: Mapping[str, str]) -> str:
    name = written.get(table, table) if table is not None else None
    if column is None:
        return f"{name or '(result)'} (rows)"
    shown = written.get(f"{table}.{column}" if table is not None else column, column)
    return f"{name}.{shown}" if name else shown


def _texts(files: list[str] | None, sql: str | None) -> tuple[dict[str, str], list[Diagnostic]]:
    """Return the texts by file, and the problems with files. Files that are not text are left out."""
    if sql is not None:
        if files:
            raise typer.BadParameter("give files or --sql, not both")
        return {"": sql}, []
    if not files or files == ["-"]:
        if sys.stdin.isatty():
            note("reading SQL from standard input; press Ctrl-D to finish")
        return {"": sys.stdin.read()}, []
    texts, problems = {}, []
    for name in files:
        try:
            text, problem = decode_sql(Path(name).read_bytes(), name)
        except OSError as error:
            reason = "broken symbolic link" if Path(name).is_symlink() else error.strerror
            raise typer.BadParameter(f"{name}: {reason}") from error
        if text is not None:
            texts[name] = text
        if problem is not None:
            problems.append(problem)
    return texts, problems


def _finish(
    statements: list[StatementLineage], problems: list[Diagnostic], texts: Mapping[str, str], dialect: str
) -> None:
    """Print the diagnostics; exit with 1 if some of the input could not be used."""
    failed = not statements or bool(problems)
    for problem in problems:
        note(str(problem), "red")
    if not statements:
        note("no statement in the input", "yellow")
    for statement in statements:
        for diagnostic in statement.diagnostics:
            place = f"{statement.source}: " if statement.source else ""
            note(f"{place}{diagnostic}", {"error": "red", "warning": "yellow"}.get(diagnostic.severity))
            if diagnostic.code is DiagnosticCode.PARSE_ERROR and diagnostic.span is not None:
                for line in marked_line(
                    texts[statement.source or ""], dialect, diagnostic.span, console(stderr=True).width
                ):
                    note(line)
            failed = failed or diagnostic.severity is Severity.ERROR
    if failed:
        raise typer.Exit(1)
