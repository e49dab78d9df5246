"""`lineage diff`, as a command: two revisions of a project, or the graph at two times."""

from __future__ import annotations

import json
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lineage.cli.commands.diff import print_graph_diff
from lineage.cli.name_argument import complete_name
from lineage.cli.option_groups import with_option_groups
from lineage.cli.options import (
    CatalogOption,
    FunctionsOption,
    dialect_option,
)
from lineage.cli.shared_flags import NameFlags
from lineage.cli.store_options import RowsOption, StoreOption
from lineage.cli.traversal_flags import DATES
from lineage.screen.formats import OutputFormat, print_listing, print_object
from lineage.screen.layout import Look
from lineage.screen.listing import note, say
from lineage.screen.progress import progress_bar
from lineage.store.opening import DEFAULT_PATH
from lineage_ingest.cli.shared.parameter_errors import bad_parameter
from lineage_ingest.dbt.artifacts.target_folder import NoManifestError
from lineage_ingest.diff.project_diff import FailCondition, ProjectDiff
from lineage_ingest.diff.reports.as_json import diff_to_dict
from lineage_ingest.diff.reports.junit import diff_to_junit
from lineage_ingest.diff.reports.markdown import diff_to_markdown
from lineage_ingest.diff.reports.sarif import diff_to_sarif
from lineage_ingest.diff.reports.terminal import COLUMNS, diff_rows, summary_lines
from lineage_ingest.diff.reports.wording import headline
from lineage_ingest.diff.revisions.git_folder import GitRevisionError
from lineage_ingest.diff.revisions.revisions import RevisionOptions
from lineage_ingest.diff_api import diff_revisions
from lineage_ingest.options import OptionError
from lineage_ingest.sql_files.files.discovery import NoSqlFilesError

__all__ = ["app"]


class DiffFormat(StrEnum):
    """Output formats of a diff."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    SARIF = "sarif"
    JUNIT = "junit"


_SUFFIXES = {".md": DiffFormat.MARKDOWN, ".json": DiffFormat.JSON, ".sarif": DiffFormat.SARIF, ".xml": DiffFormat.JUNIT}
_LOOK = Look(
    words=("columns", "change", "rebuild"),
    cuts=("risk", "columns", "effect", "table"),
    phrases={"change": "{}", "risk": "{}", "rebuild": "rebuild: {}"},
    styles={"table": "bold"},
)
_SIDES, _TIMES = "Revisions of a project", "The graph at two times"

app = typer.Typer(add_completion=False)


@app.command()
@with_option_groups()
def diff(
    names: NameFlags,
    table: Annotated[
        str | None, typer.Argument(help="With --as-of: only this table.", autocompletion=complete_name)
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="REVISION",
            help="Before the change: dbt's target folder, a folder of SQL, or either at a revision of git (main:sql).",
            rich_help_panel=_SIDES,
        ),
    ] = None,
    head: Annotated[
        str | None, typer.Option(metavar="REVISION", help="After the change, likewise.", rich_help_panel=_SIDES)
    ] = None,
    fail_on: Annotated[
        list[FailCondition] | None,
        typer.Option(help="Exit with 1 if the change does this. Repeatable.", rich_help_panel=_SIDES),
    ] = None,
    write: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Also write a report; .md, .json, .sarif or .xml (JUnit) decides which. Repeatable.",
            rich_help_panel=_SIDES,
        ),
    ] = None,
    dialect: Annotated[
        str | None,
        dialect_option("SQL dialect; default: that of dbt's adapter.", _SIDES),
    ] = None,
    catalog: CatalogOption = None,
    project_dir: Annotated[
        Path | None,
        typer.Option(
            help="Folder of dbt_project.yml at --head: seeds are read there.",
            rich_help_panel=_SIDES,
            exists=True,
            file_okay=False,
        ),
    ] = None,
    functions: FunctionsOption = None,
    pii_tag: Annotated[
        str, typer.Option(help="Tag of columns with personal data, in dbt and in the store.", rich_help_panel=_SIDES)
    ] = "pii",
    as_of: Annotated[
        list[datetime] | None,
        typer.Option(
            "--as-of",
            formats=DATES,
            metavar="TIME",
            help="Give it twice: the earlier time, then the later one. Given once, it is compared with now.",
            rich_help_panel=_TIMES,
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, help="Maximum number of edges to compare.", rich_help_panel=_TIMES)
    ] = 10_000,
    store: StoreOption = None,
    rows: RowsOption = 40,
    output: Annotated[DiffFormat, typer.Option("--format", "-f", help="Output format.")] = DiffFormat.TABLE,
) -> None:
    """What does a change of a dbt project or of SQL files do, and who reads what it changes?

    Each column is added, removed, renamed, its type, value or row set changes, or the edit is cosmetic: formatting,
    comments, names of CTEs and aliases, the order of columns. The meaning of the SQL is compared, not its text; what
    cannot be proven to be the same is called changed. Then comes what is downstream: tables of the project, and with
    --store the datasets, dashboards, people and jobs that the graph knows. It also says what must be rebuilt, and which
    tests to run.

    Example: lineage diff --base prod/target --head target --store lineage.db --write comment.md --fail-on removed

    Example: lineage diff --base main:models --head models --dialect snowflake

    With --as-of, it compares the stored graph at two times.

    Example: lineage diff --as-of 2026-01-01 --as-of 2026-02-01 --json

    Exit status: 1 if a condition of --fail-on is met, or nothing could be compared with it, or some of the input could
    not be read.
    """
    if as_of:
        if base is not None or head is not None:
            raise typer.BadParameter("give either --as-of, or --base and --head", param_hint="--as-of")
        if output.value not in list(OutputFormat):
            raise typer.BadParameter("with --as-of: table, json or csv", param_hint="--format")
        print_graph_diff(as_of, table, store, limit, rows, OutputFormat(output.value))
        return
    if base is None or head is None:
        raise typer.BadParameter("give --base and --head, or --as-of", param_hint="--base")
    if table is not None:
        raise typer.BadParameter(f"a table can be given with --as-of only: {table}", param_hint="TABLE")
    reports = [(path, _report_kind(path)) for path in write or ()]
    options = RevisionOptions(
        dialect=dialect,
        **names.of_api(),
        catalog=tuple(catalog or ()),
        project_dir=project_dir,
        functions=tuple(functions or ()),
    )
    project_diff = _compare(base, head, options, store, pii_tag)
    conditions = tuple(fail_on or ())
    for path, kind in reports:
        _write(path, _text(project_diff, kind, conditions))
    _print(project_diff, output, rows, conditions)
    failures = project_diff.failures(conditions)
    for condition, text in failures[:20]:
        note(f"--fail-on {condition}: {text}", "red")
    if len(failures) > 20:
        note(f"… and {len(failures) - 20:,} more", "red")
    nothing = bool(conditions) and project_diff.is_empty
    if nothing:
        note(f"--fail-on {' '.join(conditions)}: nothing was compared", "red")
    if failures or nothing or project_diff.has_errors:
        raise typer.Exit(1)


def _compare(base: str, head: str, options: RevisionOptions, store: str | None, pii_tag: str) -> ProjectDiff:
    address = store or (DEFAULT_PATH if Path(DEFAULT_PATH).exists() else None)
    try:
        with progress_bar() as progress:
            return diff_revisions(base, head, store=address, options=options, pii_tag=pii_tag, progress=progress)
    except OptionError as error:
        raise bad_parameter(error) from error
    except (GitRevisionError, NoManifestError, NoSqlFilesError) as error:
        raise typer.BadParameter(str(error), param_hint="--base or --head") from error


def _report_kind(path: Path) -> DiffFormat:
    kind = _SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise typer.BadParameter(f"{path}: the suffix must be {', '.join(_SUFFIXES)}", param_hint="--write")
    return kind


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be written: {error.strerror}", param_hint="--write") from error


def _text(project_diff: ProjectDiff, kind: DiffFormat, conditions: tuple[FailCondition, ...]) -> str:
    if kind is DiffFormat.MARKDOWN:
        return diff_to_markdown(project_diff)
    if kind is DiffFormat.JUNIT:
        return diff_to_junit(project_diff, conditions)
    value = (
        diff_to_sarif(project_diff, conditions) if kind is DiffFormat.SARIF else diff_to_dict(project_diff, conditions)
    )
    return json.dumps(value, indent=2, default=str) + "\n"


def _print(project_diff: ProjectDiff, output: DiffFormat, rows: int, conditions: tuple[FailCondition, ...]) -> None:
    if output is DiffFormat.JSON:
        print_object(diff_to_dict(project_diff, conditions))
    elif output in (DiffFormat.MARKDOWN, DiffFormat.SARIF, DiffFormat.JUNIT):
        print(_text(project_diff, output, conditions), end="")
    else:
        listed = list(diff_rows(project_diff))
        if output is DiffFormat.CSV:
            print_listing(COLUMNS, listed, OutputFormat.CSV)
            return
        say(f"{project_diff.base} → {project_diff.head}: {headline(project_diff)}")
        print_listing(COLUMNS, listed[: rows or None], OutputFormat.TABLE, _LOOK)
        if rows and len(listed) > rows:
            note(f"… and {len(listed) - rows:,} more; --rows 0 shows all")
        for line in summary_lines(project_diff):
            say(line, is_command=line.startswith("dbt "))
