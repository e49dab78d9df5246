"""`lineage export`: write the graph in other formats."""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, BinaryIO, TextIO, cast

import typer

from lineage.cli.store_options import StoreOption
from lineage.cli.traversal_flags import AsOfOption
from lineage.export.catalogue_tables import ExportNameError
from lineage.export.datahub import datahub_proposals
from lineage.export.google import google_events
from lineage.export.graph_part import MOST_DRAWN, MOST_TABLES, GraphPart, TooManyTablesError, partial_tables, read_part
from lineage.export.lineagex_json import lineagex_tables
from lineage.export.openlineage import openlineage_events
from lineage.export.openmetadata import openmetadata_requests
from lineage.export.page.explorer_file import html_page
from lineage.export.page.site import ForeignFolderError, write_site
from lineage.export.picture.diagrams import dot, mermaid
from lineage.export.picture.svg import svg
from lineage.governance.tags.rules import default_rules
from lineage.governance.tags.tagging import classify
from lineage.model.influence.transformations import EdgeKind
from lineage.model.namespaces import normal_namespace
from lineage.model.statement import Completeness
from lineage.screen.listing import counted, note
from lineage.store import GraphStore, open_store
from lineage.traversal import resolve

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True)


@app.callback()
def export() -> None:
    """Write the graph as a page to look at, as a diagram, or for another product.

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
    with open_store(store, read_only=True) as opened, _writing(output) as out:
        tags = classify(opened, default_rules()).tags
        count = _write_lines(out, openlineage_events(opened, namespace=wanted, as_of=then, tags=tags))
    note(f"{counted(count, 'event')} → {output or 'standard output'}")


PackedOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Output file, compressed if it ends in .gz. Default: standard output."),
]
NamespaceOption = Annotated[
    str | None, typer.Option(help="Only tables of this namespace, such as postgres://host:5432.")
]


@app.command("datahub", short_help="Write a metadata file for DataHub.")
def datahub(
    output: PackedOption = None,
    namespace: NamespaceOption = None,
    instance: Annotated[
        list[str] | None,
        typer.Option(help="Platform instance of a namespace. Repeatable.", metavar="NAMESPACE=INSTANCE"),
    ] = None,
    environment: Annotated[str, typer.Option("--env", help="DataHub's environment of the tables.")] = "PROD",
    store: StoreOption = None,
) -> None:
    """Write a metadata file for DataHub: schemas, tags, lineage of tables and columns.

    DataHub reads it with the source `file`. The command says what DataHub cannot represent.

    Example: lineage export datahub --output lineage.json --instance postgres://host:5432=sales
    """
    names, lost = _pairs(instance, "--instance"), Counter[str]()
    with open_store(store, read_only=True) as opened, _named(), _writing(output) as out:
        tags = classify(opened, default_rules()).tags
        wanted = normal_namespace(namespace) if namespace else None
        found = datahub_proposals(opened, tags, lost, namespace=wanted, instances=names, environment=environment)
        count = 0
        for one in found:
            out.write(("[\n" if not count else ",\n") + json.dumps(one, ensure_ascii=False))
            count += 1
        out.write("\n]\n" if count else "[]\n")
    _note_written(counted(count, "proposal"), output, lost)


@app.command("openmetadata", short_help="Write requests for OpenMetadata, one JSON object per line.")
def openmetadata(
    output: PackedOption = None,
    namespace: NamespaceOption = None,
    service: Annotated[
        list[str] | None,
        typer.Option(help="OpenMetadata's service of a namespace. Repeatable.", metavar="NAMESPACE=SERVICE"),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Write requests for OpenMetadata's API, one JSON object per line: method, path and body.

    They make services, schemas, tables, tags and lineage, in this order. Nothing is sent.

    Example: lineage export openmetadata --output requests.ndjson --service postgres://host:5432=sales
    """
    names, lost = _pairs(service, "--service"), Counter[str]()
    with open_store(store, read_only=True) as opened, _named(), _writing(output) as out:
        tags = classify(opened, default_rules()).tags
        wanted = normal_namespace(namespace) if namespace else None
        count = _write_lines(out, openmetadata_requests(opened, tags, lost, namespace=wanted, services=names))
    _note_written(counted(count, "request"), output, lost)


@app.command("google", short_help="Write events for Google's Data Lineage API, one JSON object per line.")
def google(output: PackedOption = None, namespace: NamespaceOption = None, store: StoreOption = None) -> None:
    """Write events for Google's Data Lineage API, one JSON object per line.

    Each is the body of a request `processOpenLineageRunEvent`, with at most 100 links and 5 MB. Nothing is sent.

    Example: lineage export google --output events.ndjson
    """
    lost = Counter[str]()
    with open_store(store, read_only=True) as opened, _writing(output) as out:
        tags = classify(opened, default_rules()).tags
        wanted = normal_namespace(namespace) if namespace else None
        count = _write_lines(out, google_events(opened, tags, lost, namespace=wanted))
    _note_written(counted(count, "event"), output, lost)


def _write_lines(out: TextIO, values: Iterable[object]) -> int:
    count = 0
    for count, value in enumerate(values, 1):  # noqa: B007  the number of the last
        out.write(json.dumps(value, ensure_ascii=False) + "\n")
    return count


def _note_written(what: str, output: Path | None, lost: Counter[str]) -> None:
    note(f"{what} → {output or 'standard output'}")
    for lack, number in lost.items():
        note(f"no place for {number:,} {lack}", "yellow")


def _pairs(values: list[str] | None, option: str) -> dict[str, str]:
    found = {}
    for value in values or ():
        namespace, equals, name = value.rpartition("=")
        if not (equals and namespace and name):
            raise typer.BadParameter(f"{value!r} is not NAMESPACE=NAME", param_hint=option)
        found[normal_namespace(namespace)] = name
    return found


@contextmanager
def _named() -> Iterator[None]:
    try:
        yield
    except ExportNameError as error:
        raise typer.BadParameter(str(error)) from error


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
    """Write the explorer with the graph in it as one HTML file. It opens without a service, and loads
    nothing from the network.

    It holds up to 2,000 tables with their SQL, literals masked, and no names of users.

    Example: lineage export html lineage.html --focus mart.revenue.total
    """
    with open_store(store, read_only=True) as opened:
        part = _part(opened, focus, hops)
        page = html_page(opened, part)
    _write(output, page)
    note(f"{counted(len(part.datasets), 'table')}, {counted(len(part.edges), 'edge')} → {output}")


@app.command("site", short_help="Write a site: an index, a page of each table, the explorer.")
def site(
    folder: Annotated[Path, typer.Argument(help="The folder to write.")],
    focus: FocusOption = None,
    hops: HopsOption = 20,
    store: StoreOption = None,
) -> None:
    """Write a site of plain files: an index, a page of each table under an address that stays, and the explorer.

    Publish it from CI, or open it from the disk. A table's page shows its neighbours, where each column comes from and
    what uses it, and the SQL that says so. With up to 2,000 tables the explorer is there, too.

    Example: lineage export site public/lineage
    """
    with open_store(store, read_only=True) as opened:
        part = _part(opened, focus, hops, most=sys.maxsize)
        try:
            count = write_site(opened, part, folder)
        except ForeignFolderError as error:
            raise typer.BadParameter(str(error), param_hint="FOLDER") from error
        except OSError as error:
            raise typer.BadParameter(f"{folder} cannot be written: {error.strerror}", param_hint="FOLDER") from error
    note(f"{counted(len(part.datasets), 'table')}, {counted(count, 'file')} → {folder / 'index.html'}")


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

    Each column has two lists: the columns that its value comes from, and those that it references. That format has no
    place for masking, time or what could not be resolved; the other exports do.

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


@app.command("svg", short_help="Draw tables and columns as an SVG picture.")
def svg_picture(
    output: OutputOption = None,
    focus: FocusOption = None,
    hops: HopsOption = 20,
    tables: Annotated[bool, typer.Option("--tables", help="Without columns: edges between tables.")] = False,
    values: Annotated[bool, typer.Option("--values", help="Only edges that carry a value.")] = False,
    store: StoreOption = None,
) -> None:
    """Draw tables, their columns and the edges between them as an SVG picture, for a page or a document.

    A red line carries the value, a dashed blue one only influence, such as a filter or a join; orange is both. A dashed
    border: a table whose lineage is not fully resolved. The picture has up to 300 tables.

    Example: lineage export svg --focus mart.revenue.total --hops 2 -o revenue.svg
    """
    with open_store(store, read_only=True) as opened:
        kinds = {EdgeKind.CONTRIBUTES} if values else frozenset(EdgeKind)
        part = _part(opened, focus, hops, most=MOST_DRAWN, kinds=kinds)
        partial = partial_tables(opened, part)
    text = svg(part, partial=partial, tables_only=tables)
    if output is None:
        sys.stdout.write(text)
    else:
        _write(output, text)
    note(f"{counted(len(part.datasets), 'table')}, {counted(len(part.edges), 'edge')} → {output or 'standard output'}")
    if partial:
        note(f"{counted(len(partial), 'table')} not fully resolved: lineage diagnostics says why")


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


def _part(
    store: GraphStore,
    focus: list[str] | None,
    hops: int,
    *,
    most: int = MOST_TABLES,
    kinds: Collection[EdgeKind] = frozenset(EdgeKind),
) -> GraphPart:
    try:
        targets = [resolve(store, name) for name in focus or ()]
        return read_part(store, targets, max_hops=hops, most=most, kinds=kinds)
    except TooManyTablesError as error:
        raise typer.BadParameter(str(error), param_hint="--focus") from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be written: {error.strerror}") from error


@contextmanager
def _writing(path: Path | None) -> Iterator[TextIO]:
    """Yield a text file that takes the place of `path` once all is written; an export that fails leaves what was there.

    Raises:
        typer.BadParameter: the file cannot be written.
    """
    if path is None:
        yield sys.stdout
        return
    is_plain = path.is_file() or not path.exists()  # not a pipe, nor /dev/null
    made = path.with_name(f".{os.getpid()}.{path.name}") if is_plain else path
    try:
        with ExitStack() as stack:
            try:
                raw = stack.enter_context(made.open("wb"))
            except OSError as error:
                raise typer.BadParameter(
                    f"{path} cannot be written: {error.strerror}", param_hint="--output"
                ) from error
            # Without a timestamp in the header, so that the same graph gives the same file.
            packed = stack.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0)) if path.suffix == ".gz" else raw
            yield stack.enter_context(TextIOWrapper(cast("BinaryIO", packed), encoding="utf-8"))
        if is_plain:
            made.replace(path)
    finally:
        if is_plain:
            made.unlink(missing_ok=True)
