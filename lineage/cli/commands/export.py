"""`lineage export`: write the graph in other formats."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, BinaryIO, TextIO, cast

import typer

from lineage.cli.commands.ask import AsOfOption
from lineage.cli.store_options import StoreOption
from lineage.export.diagrams import dot, mermaid
from lineage.export.graph_part import MOST_TABLES, GraphPart, TooManyTablesError, read_part
from lineage.export.html import html_page
from lineage.export.lineagex_json import lineagex_tables
from lineage.export.openlineage import openlineage_events
from lineage.model.namespaces import normal_namespace
from lineage.model.statement import Completeness
from lineage.screen.listing import counted, note
from lineage.store import GraphStore, open_store
from lineage.traversal import resolve

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True)


@app.callback()
def export() -> None:
    """Write the graph as a page to look at, as a diagram, or as OpenLineage events.

    Example: lineage export html lineage.html --focus mart.revenue.total
    """


OutputOption = Annotated[Path | None, typer.Option("--output", "-o", help="Output file. Default: standard output.")]


@app.command("openlineage", short_help="Write OpenLineage events, one JSON object per line.")
def openlineage(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Output file, compressed if it ends in .gz. Default: standard output."),
    ] = None,
    namespace: Annotated[
        str | None, typer.Option(help="Only datasets of this namespace, such as postgres://host:5432, and their jobs.")
    ] = None,
    as_of: AsOfOption = None,
    store: StoreOption = None,
) -> None:
    """Write the graph as OpenLineage events, one JSON object per line.

    Each job becomes a JobEvent; each dataset that no job writes becomes a DatasetEvent.

    Example: lineage export openlineage --output lineage.ndjson
    """
    wanted = normal_namespace(namespace) if namespace else None
    then = as_of.replace(tzinfo=UTC) if as_of is not None and as_of.tzinfo is None else as_of
    count = 0
    with open_store(store, read_only=True) as opened, _writing(output) as out:
        for event in openlineage_events(opened, namespace=wanted, as_of=then):
            out.write(json.dumps(event, ensure_ascii=False) + "\n")
            count += 1
    note(f"{counted(count, 'event')} → {output or 'standard output'}")


FocusOption = Annotated[
    list[str] | None,
    typer.Option("--focus", help="Only what is upstream and downstream of this column or table. Repeatable."),
]
HopsOption = Annotated[int, typer.Option("--hops", min=1, help="With --focus: maximum number of edges to follow.")]


@app.command("html", short_help="Write the explorer as one HTML file that works offline.")
def html(
    output: Annotated[Path, typer.Argument(help="The file to write.")],
    focus: FocusOption = None,
    hops: HopsOption = 20,
    store: StoreOption = None,
) -> None:
    """Write the explorer with the graph in it as one HTML file. It opens without a service and asks for nothing.

    It holds up to 2,000 tables with their SQL, literals masked, and no names of users.

    Example: lineage export html lineage.html --focus mart.revenue.total
    """
    with open_store(store, read_only=True) as opened:
        part = _part(opened, focus, hops)
        page = html_page(opened, part)
    _write(output, page)
    note(f"{counted(len(part.datasets), 'table')}, {counted(len(part.edges), 'edge')} → {output}")


@app.command("mermaid", short_help="Write the tables as a Mermaid flowchart.")
def mermaid_chart(
    output: OutputOption = None, focus: FocusOption = None, hops: HopsOption = 20, store: StoreOption = None
) -> None:
    """Write the tables as a Mermaid flowchart, for Markdown: a dashed arrow has references only.

    Example: lineage export mermaid --focus mart.revenue --hops 2
    """
    _diagram(mermaid, output, focus, hops, store)


@app.command("json", short_help="Write the columns of each table in the form of LineageX's output.json.")
def lineagex_json(
    output: OutputOption = None, focus: FocusOption = None, hops: HopsOption = 20, store: StoreOption = None
) -> None:
    """Write the columns of each table in the form of LineageX's output.json, with literals in SQL masked.

    Each column has two lists: the columns that its value comes from, and those that it references. That form has no
    place for masking, time or what could not be resolved; the other exports have.

    Example: lineage export json --output output.json
    """
    with open_store(store, read_only=True) as opened:
        tables, jobs = lineagex_tables(opened, _part(opened, focus, hops, most=sys.maxsize))
    text = json.dumps(tables, ensure_ascii=False, indent=2) + "\n"
    if output is None:
        sys.stdout.write(text)
    else:
        _write(output, text)
    note(f"{counted(len(tables), 'table')} → {output or 'standard output'}")
    partial = sum(job.completeness is not Completeness.FULL for job in jobs)
    if partial:
        note(f"{partial:,} of {counted(len(jobs), 'job')} are not fully resolved: lineage diagnostics says why")


@app.command("dot", short_help="Write the tables as a Graphviz graph.")
def dot_graph(
    output: OutputOption = None, focus: FocusOption = None, hops: HopsOption = 20, store: StoreOption = None
) -> None:
    """Write the tables as a graph for Graphviz: a dashed edge has references only.

    Example: lineage export dot --focus mart.revenue | dot -Tsvg -o lineage.svg
    """
    _diagram(dot, output, focus, hops, store)


def _diagram(
    draw: Callable[[GraphPart], str], output: Path | None, focus: list[str] | None, hops: int, store: str | None
) -> None:
    with open_store(store, read_only=True) as opened:
        part = _part(opened, focus, hops)
    text = draw(part)
    if output is None:
        sys.stdout.write(text)
    else:
        _write(output, text)
    note(f"{counted(len(part.datasets), 'table')} → {output or 'standard output'}")


def _part(store: GraphStore, focus: list[str] | None, hops: int, *, most: int = MOST_TABLES) -> GraphPart:
    try:
        return read_part(store, [resolve(store, name) for name in focus or ()], max_hops=hops, most=most)
    except TooManyTablesError as error:
        raise typer.BadParameter(str(error), param_hint="--focus") from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be written: {error.strerror}") from error


@contextmanager
def _writing(path: Path | None) -> Iterator[TextIO]:
    if path is None:
        yield sys.stdout
        return
    with ExitStack() as stack:
        try:
            raw = stack.enter_context(path.open("wb"))
        except OSError as error:
            raise typer.BadParameter(f"{path} cannot be written: {error.strerror}", param_hint="--output") from error
        # Without a timestamp in the header, so that the same graph gives the same file.
        packed = stack.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0)) if path.suffix == ".gz" else raw
        yield stack.enter_context(TextIOWrapper(cast("BinaryIO", packed), encoding="utf-8"))
