"""`lineage forget`: retire the lineage of a project, a file, a job or a namespace."""

from __future__ import annotations

import sys
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Annotated

import typer

from lineage.cli.store_options import FormatOption, LockTimeoutOption, StoreOption
from lineage.model.files import beginning
from lineage.model.names import is_column_key
from lineage.screen.formats import OutputFormat, print_figures
from lineage.screen.listing import counted, note, say
from lineage.store import open_store
from lineage.store.protocol import GraphStore
from lineage.store.values import JobSelection

__all__ = ["forget"]


def forget(
    project: Annotated[str | None, typer.Option(help="A project, as `ingest sql` shows it.")] = None,
    source: Annotated[
        str | None, typer.Option(help="A file or folder: its path in the project, or absolute without a project.")
    ] = None,
    job: Annotated[str | None, typer.Option(help="The key of a job.")] = None,
    namespace: Annotated[str | None, typer.Option(help="Jobs that write datasets of this namespace.")] = None,
    environment: Annotated[
        str | None, typer.Option(help="SQL files ingested with these settings: DIALECT,NAMESPACE,DATABASE,SCHEMA.")
    ] = None,
    store: StoreOption = None,
    lock_timeout: LockTimeoutOption = None,  # noqa: ARG001
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be retired; change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Retire the lineage of a project, a file, a job or a namespace. `--as-of` still shows it.

    Several options select the jobs that match all of them. Ingest a job again to make its lineage live again. Facts
    (descriptions, tags, tests of a dbt project) have no history: they are deleted.

    Example: lineage forget --project github.com/acme/shop --dry-run
    """
    if all(given is None for given in (project, source, job, namespace, environment)):
        raise typer.BadParameter("give --project, --source, --job, --namespace or --environment")
    wanted = JobSelection(project, source, job, namespace, environment)
    with open_store(store, read_only=dry_run) as opened:
        heads = opened.select_jobs(wanted)
        keys = [head.key for head in heads]
        files = {head.file_key or head.source for head in heads} - {None}
        edges = sum(is_column_key(edge.source) for edge in opened.edges_of(keys)) if keys else 0
        summary = f"{counted(len(keys), 'job')} of {counted(len(files), 'file')}, with {counted(edges, 'live edge')}"
        stated = _stated_facts(opened, wanted, files)
        facts = sorted({source for source, _ in stated})
        if facts:
            summary += f" and the facts of {counted(len(facts), 'source')}"
        ask = bool(keys or facts) and not dry_run and not yes
        if ask:
            note(f"this retires {summary}")
            if not sys.stdin.isatty():
                note("nothing was changed; confirm with --yes", "red")
                raise typer.Exit(2)
            typer.confirm("Retire them?", abort=True, err=True)
        done = not dry_run and bool(keys or facts)
        if done:
            edges = opened.retire_jobs(keys, datetime.now(UTC)).edges
            opened.forget_facts(stated)
    print_figures(
        {"retired": done, "jobs": keys, "files": len(files), "edges": edges, "facts": facts},
        output,
        people=lambda: (
            say(f"{'retired' if done else 'this would retire'} {summary}")
            if keys or facts
            else note("no live job matches", "yellow")
        ),
    )


def _stated_facts(store: GraphStore, wanted: JobSelection, files: Collection[str | None]) -> list[tuple[str, str]]:
    """Return the sources whose facts are meant, those of the files or all of a project, each with its datasets."""
    sources = {file for file in files if file is not None}
    if wanted.project is not None and wanted.source is wanted.job is wanted.namespace is None:
        sources.update(source for source, _ in store.fact_sources(beginning(wanted.project)))
    if wanted.environment is not None:
        sources = {one for one in sources if one.endswith(f"@{wanted.environment}")}
    known = {one.partition(":")[0] for one in sources}
    return [pair for text in sorted(known) for pair in store.fact_sources(text) if pair[0] in sources]
