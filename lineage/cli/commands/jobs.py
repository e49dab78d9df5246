"""`lineage jobs` and `lineage diagnostics`: the jobs that lineage comes from, and what could not be resolved."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from lineage.cli.name_argument import complete_name
from lineage.cli.store_options import FormatOption, StoreOption
from lineage.model.batch import JobKind
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.text.name_lists import name_list
from lineage.screen.formats import OutputFormat, print_listing
from lineage.screen.layout import Look
from lineage.screen.listing import note, say
from lineage.store import open_store
from lineage.store.protocol import GraphStore
from lineage.store.values import JobSelection, StoredDiagnostic, StoredJob
from lineage.traversal import resolve

__all__ = ["diagnostics", "jobs"]

_JOBS = ("job", "kind", "operation", "writes", "reads", "completeness", "runs", "last seen", "retired", "file")
_JOBS_LOOK = Look(
    names=("job", "writes", "reads"),
    cuts=("job",),
    shortened=("job",),
    phrases={"kind": "{}", "operation": "{}", "completeness": "{}"},
    styles={"job": "bold"},
)
_FOUND = ("severity", "code", "place", "message", "hint")


def _complete_job(context: typer.Context, incomplete: str) -> list[str]:
    """Return the job keys that complete what is typed; none without a store."""
    from lineage.store.errors import StoreError  # noqa: PLC0415  completion must start quickly

    try:
        with open_store(context.params.get("store"), read_only=True) as store:
            return [key for key in store.job_keys() if key.startswith(incomplete)]
    except StoreError:
        return []


def _complete_source(context: typer.Context, incomplete: str) -> list[str]:
    """Return the files with diagnostics that complete what is typed."""
    from lineage.store.errors import StoreError  # noqa: PLC0415

    try:
        with open_store(context.params.get("store"), read_only=True) as store:
            return sorted({one.source for one in store.diagnostics() if one.source.startswith(incomplete)})
    except StoreError:
        return []


ProjectOption = Annotated[str | None, typer.Option(help="Only SQL files of this project.")]


def jobs(
    key: Annotated[
        str | None, typer.Argument(help="Key of a job: show it with its SQL.", autocompletion=_complete_job)
    ] = None,
    store: StoreOption = None,
    table: Annotated[
        str | None, typer.Option(help="Only jobs that read or write this table.", autocompletion=complete_name)
    ] = None,
    kind: Annotated[list[JobKind] | None, typer.Option(help="Only jobs of this kind. Repeatable.")] = None,
    project: ProjectOption = None,
    source: Annotated[
        str | None, typer.Option(help="Only jobs of this SQL file or folder: its path in the project.")
    ] = None,
    retired: Annotated[bool, typer.Option("--retired", help="Include retired jobs.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=0, help="Maximum number of jobs; 0 lists all.")] = 40,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """List the jobs that lineage comes from: views, SQL files, query templates, events. Shows what they read and write.

    Example: lineage jobs --table shop.orders --kind query
    """
    with open_store(store, read_only=True) as opened:
        key = None if key is None else _whole_key(opened, key)
        wanted = JobSelection(
            project=project, source=source, job=key, kinds=tuple(kind or ()), retired=retired or key is not None
        )
        keys = [head.key for head in opened.select_jobs(wanted)]
        if table is not None:
            keys = _keys_of_table(opened, keys, table)
        shown = keys[: limit or None]
        stored_jobs = opened.jobs(shown) if shown else []
        names = opened.dataset_names({one for job in stored_jobs for one in _changed_keys(job)})
    if key is not None and not stored_jobs:
        raise typer.BadParameter(f"no job {key!r} in the graph; `lineage jobs` lists them", param_hint="KEY")
    print_listing(
        _JOBS,
        (_job_row(job, names) for job in stored_jobs),
        output,
        _JOBS_LOOK,
        values=lambda: [_job_values(job, names) for job in stored_jobs],
        empty="no job matches",
    )
    if len(shown) < len(keys):
        note(f"… and {len(keys) - len(shown):,} more; --limit 0 lists all")
    if key is not None and output.is_for_people:
        for job in stored_jobs:
            say(job.sql or "no SQL is stored for this job")


def _keys_of_table(store: GraphStore, keys: list[str], table: str) -> list[str]:
    """Return the jobs that read or write a table, in the order of `keys`."""
    dataset = resolve(store, table).dataset
    of_table = {job.key for job in store.jobs(keys) if dataset in _changed_keys(job)}
    return [one for one in keys if one in of_table]


def diagnostics(
    store: StoreOption = None,
    code: Annotated[
        list[DiagnosticCode] | None, typer.Option(help="Only diagnostics with this code. Repeatable.", metavar="CODE")
    ] = None,
    severity: Annotated[list[Severity] | None, typer.Option(help="Only diagnostics of this severity.")] = None,
    source: Annotated[
        str | None, typer.Option(help="Only diagnostics of this file.", autocompletion=_complete_source)
    ] = None,
    project: ProjectOption = None,
    job: Annotated[str | None, typer.Option(help="Only diagnostics of this job.", autocompletion=_complete_job)] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=0, help="Maximum number of diagnostics, worst first; 0 lists all.")
    ] = 40,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """List what could not be resolved, and why: worst first, each with file, line and hint.

    Example: lineage diagnostics --severity error --project shop
    """
    with open_store(store, read_only=True) as opened:
        job = None if job is None else _whole_key(opened, job)
        stored_diagnostics = _diagnostics(opened, code, severity, source, project, job)
        unknown = "" if stored_diagnostics else _unknown_of(opened, source, project, job)
    shown = stored_diagnostics[: limit or None]
    rows = (
        (_severity(one), one.diagnostic.code, _place(one), one.diagnostic.message, one.diagnostic.hint) for one in shown
    )
    look = Look(words=("message", "hint"), cuts=("place",), shortened=("place",), phrases={"message": "{}"})
    values = [_diagnostic_values(one) for one in shown]
    print_listing(_FOUND, rows, output, look, values=lambda: values, empty=unknown or "no diagnostic matches")
    if len(shown) < len(stored_diagnostics):
        note(f"… and {len(stored_diagnostics) - len(shown):,} more; --limit 0 lists all")


def _unknown_of(store: GraphStore, source: str | None, project: str | None, job: str | None) -> str:
    """Return what of a selection the graph does not know: nothing can be said of it; empty if it knows all."""
    asked = (
        ("SQL files of project", project, JobSelection(project=project)),
        ("file", source, JobSelection(source=source)),
        ("job", job, JobSelection(job=job)),
    )
    unknown = [f"{what} {name!r}" for what, name, one in asked if name is not None and not store.select_jobs(one)]
    return f"the graph has no {' and no '.join(unknown)}: lineage jobs lists what it has" if unknown else ""


def _whole_key(store: GraphStore, text: str) -> str:
    """Return the key of the job that a listing shows as `text`: in full, by its end, or with `…` in the middle."""
    keys = store.job_keys()
    shown = re.compile(".*" + ".*".join(map(re.escape, text.split("…"))), re.DOTALL)
    matches = [text] if text in keys else list(filter(shown.fullmatch, keys))
    if len(matches) > 1:
        raise typer.BadParameter(f"{text!r} means {len(matches):,} jobs: {name_list(matches, 5)}", param_hint="KEY")
    return matches[0] if matches else text


def _diagnostics(
    store: GraphStore,
    codes: list[DiagnosticCode] | None,
    severities: list[Severity] | None,
    source: str | None,
    project: str | None,
    job: str | None,
) -> list[StoredDiagnostic]:
    """Return the diagnostics that match, worst first."""
    order = list(Severity)
    found = [
        record
        for record in store.diagnostics()
        if (not codes or record.diagnostic.code in codes)
        and (not severities or record.diagnostic.severity in severities)
        and (source is None or source in (record.source, record.path))
        and (project is None or record.project == project)
        and (job is None or record.job == job)
    ]
    return sorted(found, key=lambda one: order.index(one.diagnostic.severity))


def _severity(one: StoredDiagnostic) -> str:
    return str(one.diagnostic.severity)


def _place(one: StoredDiagnostic) -> str:
    span = one.diagnostic.span
    return f"{one.source}:{span.line}:{span.column}" if span else one.source


def _diagnostic_values(one: StoredDiagnostic) -> dict[str, Any]:
    file = {"project": one.project, "path": one.path} if one.file_key else {}
    return {"source": one.source, **file, "job": one.job, **one.diagnostic.to_dict()}


def _changed_keys(job: StoredJob) -> set[str]:
    return {*job.reads, *job.writes}


def _job_row(job: StoredJob, names: dict[str, str]) -> tuple[object, ...]:
    sides = ([names.get(key, key) for key in keys] for keys in (job.writes, job.reads))
    retired = f"{job.retired_at:%Y-%m-%d %H:%M:%S}" if job.retired_at else None
    file = f"{job.source}:{job.source_line}" if job.source and job.source_line else job.source
    seen = f"{job.last_seen:%Y-%m-%d %H:%M:%S}"
    return (job.key, job.kind, job.operation, *sides, job.completeness, job.observations or None, seen, retired, file)


def _job_values(job: StoredJob, names: dict[str, str]) -> dict[str, Any]:
    return {
        "key": job.key,
        "kind": str(job.kind),
        "operation": job.operation,
        "writes": [names.get(key, key) for key in job.writes],
        "reads": [names.get(key, key) for key in job.reads],
        "completeness": str(job.completeness),
        "observations": job.observations,
        "first_seen": job.first_seen.isoformat(),
        "last_seen": job.last_seen.isoformat(),
        "retired_at": job.retired_at.isoformat() if job.retired_at else None,
        "dialect": job.dialect,
        "project": job.project,
        "file": job.path or job.source,
        "line": job.source_line,
        "sql": job.sql,
    }
