"""`lineage impact`, `lineage root-cause` and `lineage path`: traversals of the graph."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any

import typer
from rich.cells import cell_len
from rich.text import Text

from lineage.cli.answer_notes import (
    note_broken_reads,
    note_former_holders,
    note_gone_sources,
    note_namesakes,
    note_possibly_affected,
    note_times,
    note_truncation,
)
from lineage.cli.impact_filter import ImpactFilter, MaskedOption, TableKindOption, TagOption
from lineage.cli.name_argument import NameArgument
from lineage.cli.option_groups import with_option_groups
from lineage.cli.store_options import FormatOption, RowsOption, StoreOption
from lineage.cli.traversal_flags import EdgeFlags, TraversalFlags
from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import dataset_of, is_column_key
from lineage.screen.answer_tree import answer_tree
from lineage.screen.evidence import evidence_of, excerpts, unique_sources, with_evidence
from lineage.screen.formats import OutputFormat, print_listing, print_object
from lineage.screen.layout import Look
from lineage.screen.listing import console, counted, note, say
from lineage.store import open_store
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, StoredJob
from lineage.traversal import Answer, Reached, Route, Target, TraversalOptions, resolve, shortest_paths
from lineage.traversal import impact as find_impact
from lineage.traversal import root_cause as find_root_cause
from lineage.traversal.cautions.broken_reads import BrokenRead, broken_reads
from lineage.traversal.cautions.gone_sources import GoneSource, gone_sources
from lineage.traversal.lookup import names_of

__all__ = ["impact", "path", "print_answer", "root_cause"]


_ALL = ImpactFilter()


PathsOption = Annotated[
    bool,
    typer.Option("--paths", help="With --format json: each column has its whole paths, instead of one tree of paths."),
]
TreeOption = Annotated[bool, typer.Option("--tree", help="Show each column below the one that it is reached from.")]


_STEP_COLUMNS = ("path", "step", "source", "kind", "subtypes", "target", "job", "file", "line", "sql")
_LOOK = Look(
    names=("column", "by way of"),
    words=("influence", "how"),
    cuts=("root", "how", "column"),
    phrases={"influence": "{}", "how": "{}"},
    styles={"column": "bold", "by way of": "dim"},
)


@with_option_groups()
def impact(
    name: NameArgument,
    limits: TraversalFlags,
    store: StoreOption = None,
    tag: TagOption = None,
    masked: MaskedOption = None,
    table_kind: TableKindOption = None,
    rows: RowsOption = 40,
    output: FormatOption = OutputFormat.TABLE,
    paths: PathsOption = False,
    tree: TreeOption = False,
) -> None:
    """What depends on this column or table? Follows lineage downstream.

    CONTRIBUTES: the value itself flows to the column. REFERENCES: it decides which rows or which of several values
    the column has.

    Example, values only: lineage impact shop.orders.amount --max-references 0

    Example, dashboards: lineage impact crm.people.email --unmasked --table-kind exposure
    """
    wanted = ImpactFilter(tuple(tag or ()), masked, tuple(table_kind or ()))
    if tree and not wanted.is_empty:
        raise typer.BadParameter("--tree shows all columns: leave out --tag, --masked, --unmasked and --table-kind")
    _ask("impact", find_impact, name, store, limits.options(), output, rows, paths=paths, tree=tree, wanted=wanted)


@with_option_groups()
def root_cause(
    name: NameArgument,
    limits: TraversalFlags,
    store: StoreOption = None,
    rows: RowsOption = 40,
    output: FormatOption = OutputFormat.TABLE,
    paths: PathsOption = False,
    tree: TreeOption = False,
) -> None:
    """Where does this column or table come from? Follows lineage upstream, to the columns that have no sources.

    Example: lineage root-cause mart.revenue.total
    """
    _ask("root-cause", find_root_cause, name, store, limits.options(), output, rows, paths=paths, tree=tree)


@with_option_groups()
def path(
    start: NameArgument,
    end: NameArgument,
    edges: EdgeFlags,
    store: StoreOption = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Maximum number of paths to show.")] = 3,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """How does one column or table reach another? Shows the shortest paths, with the SQL that proves each step.

    If these are references only, the shortest path on which a value flows is shown as well.

    Example: lineage path raw.users.email mart.contacts.address
    """
    options = edges.options()
    with open_store(store, read_only=True) as opened:
        source, target = resolve(opened, start), resolve(opened, end)
        routes = shortest_paths(opened, source, target, limit=limit, options=options)
        if routes and not edges.kind and all(route.references for route in routes):
            flows = replace(options, kinds=frozenset((EdgeKind.CONTRIBUTES,)))
            routes += shortest_paths(opened, source, target, limit=1, options=flows)
        if not routes:
            note(f"no path from {source.name} to {target.name} within {counted(edges.max_hops, 'hop')}", "yellow")
            if shortest_paths(opened, target, source, limit=1, options=options):
                note(f"there is one the other way: lineage path {shlex.join((target.name, source.name))}", "yellow")
            note_former_holders(opened, options.as_of, "path", source, target)
            note_namesakes(opened, [source, target])
        note_times(opened, options.as_of, source, target)
        if edges.as_of is None:
            note_broken_reads(opened, broken_reads(opened, _tables_between(opened, source, target, routes, options)))
        found_in = _jobs_of(opened, routes)
        print_listing(
            _STEP_COLUMNS,
            _steps(routes, found_in),
            output,
            values=lambda: with_evidence([route.to_dict() for route in routes], found_in),
            people=lambda: _print_routes(opened, routes, found_in, is_past=edges.as_of is not None),
        )


def _ask(
    command: str,
    find: Callable[[GraphStore, Target, TraversalOptions], Answer],
    name: str,
    store: str | None,
    options: TraversalOptions,
    output: OutputFormat,
    rows: int,
    *,
    paths: bool,
    tree: bool,
    wanted: ImpactFilter = _ALL,
) -> None:
    """Print the answer to `lineage impact` or `lineage root-cause`, and what limits it."""
    if paths and output is not OutputFormat.JSON:
        raise typer.BadParameter("--paths needs --format json")
    if tree and not output.is_for_people:
        raise typer.BadParameter("--tree is for people: --format json has a tree of paths anyway")
    with open_store(store, read_only=True) as opened:
        target = resolve(opened, name)
        answer = find(opened, target, options)
        broken = broken_reads(opened, {target.dataset, *answer.by_dataset}) if options.as_of is None else []
        keys = {target.key, *(one.key for one in answer.outlines)} if command == "root-cause" else ()
        gone = gone_sources(opened, keys) if options.as_of is None else []
        if output is OutputFormat.JSON:
            _print_json(opened, answer, broken, gone, paths=paths, wanted=wanted)
        else:
            print_answer(opened, answer, output, rows, tree=tree, wanted=wanted)
        for text in wanted.unknown_tags(opened):
            note(text, "yellow")
        note_times(opened, options.as_of, target)
        note_former_holders(opened, options.as_of, command, target)
        note_namesakes(opened, [target], answer.by_dataset)
        note_broken_reads(opened, broken)
        note_gone_sources(gone)


def _tables_between(
    store: GraphStore, start: Target, end: Target, routes: Iterable[Route], options: TraversalOptions
) -> set[str]:
    """Return the tables on these paths; without a path, those that the end comes from: one may be where it breaks."""
    keys = {key for route in routes for step in route.steps for key in (step.source, step.target)}
    found = {dataset_of(key) for key in keys} or {*find_root_cause(store, end, options).by_dataset}
    return found | {start.dataset, end.dataset}


def _print_json(
    store: GraphStore,
    answer: Answer,
    broken: Collection[BrokenRead],
    gone: Collection[GoneSource],
    *,
    paths: bool,
    wanted: ImpactFilter,
) -> None:
    """Print an answer as JSON by distance: each step once, or (`paths`, or some columns only) the paths of each."""
    if not wanted.is_empty:
        shown = answer.shown(one.node for one in wanted.chosen(store, answer))
        values = answer.to_dict() | {"filter": wanted.text, "columns": [one.to_dict() for one in shown]}
    else:
        values = answer.to_dict() if paths else answer.to_tree()
        shown = answer.columns
    jobs = _jobs_of(store, (route for one in shown for route in one.routes))
    notes = {"broken_reads": [one.to_dict() for one in broken], "gone_sources": [one.to_dict() for one in gone]}
    print_object(with_evidence(values, jobs) | notes)


def print_answer(
    store: GraphStore,
    answer: Answer,
    output: OutputFormat,
    rows: int,
    *,
    tree: bool = False,
    wanted: ImpactFilter = _ALL,
) -> None:
    """Print an answer, or what is wanted of it, as a table, a tree or CSV; flows of the value come first."""
    upstream = answer.direction is Direction.UPSTREAM
    columns = ("hops", "column", "influence", "how", "masked", *(("root",) if upstream else ()), "by way of")
    chosen = None if wanted.is_empty else wanted.chosen(store, answer)
    total = answer.total if chosen is None else len(chosen)
    most = rows if rows and output.is_for_people else total
    if chosen is None:
        shown = answer.page(0, most, values_first=True)
    else:
        shown = answer.shown(one.node for one in chosen[:most])
    neighbours = [_neighbour(reached, upstream) for reached in shown]
    names = answer.names_of(key for key in neighbours if key is not None)
    listed = [
        _row(reached, upstream, _with_rows(names, key) if key is not None else None)
        for reached, key in zip(shown, neighbours, strict=True)
    ]
    if not output.is_for_people:
        print_listing(columns, listed, output)
        return
    if chosen is None:
        _print_headline(answer, upstream)
    else:
        say(wanted.headline(answer, total), subject=answer.start.name)
    if tree:
        out = console()
        for line in answer_tree(answer, shown, out.width):
            out.print(line, markup=False)
    elif listed:
        print_listing(columns, listed, output, _LOOK)
    if len(shown) < total:
        note(f"… and {total - len(shown):,} more; --rows 0 shows all, --format json also the paths")
    note_possibly_affected(store, answer)
    note_truncation(answer)


def _print_headline(answer: Answer, upstream: bool) -> None:
    name, total = answer.start.name, answer.total
    kinds = " and ".join(f"{kind.lower()} edges" for kind in sorted(answer.kinds))
    if not total:
        what = f"no source of {name} is known" if upstream else f"no column is known to depend on {name}"
        say(f"{what}{'' if len(answer.kinds) > 1 else f', by {kinds} only'}", subject=name)
        return
    columns = f"{counted(total, 'column')} in {counted(len(answer.tables), 'table')}"
    if answer.is_lower_bound:
        columns = f"at least {columns}"
    hops = f"at most {counted(max(answer.by_hop), 'hop')} away"
    verb = "depends" if total == 1 else "depend"
    say(f"{name} comes from {columns}, {hops}" if upstream else f"{columns} {verb} on {name}, {hops}", subject=name)


def _neighbour(reached: Reached, upstream: bool) -> str | None:
    """Return the key before a column on its path; None if that is the start."""
    if reached.hops <= 1:
        return None
    return reached.path[0].target if upstream else reached.path[-1].source


def _row(reached: Reached, upstream: bool, neighbour: str | None) -> tuple[object, ...]:
    influence = " + ".join(sorted(str(kind) for kind in reached.influence))
    how = ", ".join(str(subtype) for subtype in reached.how)
    root = (reached.root,) if upstream else ()
    return (reached.hops, reached.name, influence, how, reached.masked, *root, neighbour)


def _jobs_of(store: GraphStore, routes: Iterable[Route]) -> dict[str, StoredJob]:
    """Return the jobs that the steps of routes come from, by key."""
    keys = {step.job for route in routes for step in route.steps}
    return {job.key: job for job in store.jobs(keys)} if keys else {}


def _steps(routes: tuple[Route, ...], jobs: Mapping[str, StoredJob]) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for number, route in enumerate(routes, 1):
        for position, step in enumerate(route.steps, 1):
            proof = next(iter(evidence_of(jobs.get(step.job), step.spans)), {})
            sql = (proof.get("file"), proof.get("line"), _expressions(proof))
            rows.append((number, position, step.source, step.kind, step.subtypes, step.target, step.job, *sql))
    return rows


def _expressions(proof: Mapping[str, Any]) -> str | None:
    """Return the distinct expressions of a proof, in order."""
    pieces = [proof, *proof["via"]] if proof else []
    return " → ".join(dict.fromkeys(piece["expression"] for piece in pieces)) or None


def _print_routes(
    store: GraphStore, routes: tuple[Route, ...], jobs: Mapping[str, StoredJob], *, is_past: bool
) -> None:
    names = names_of(store, {key for route in routes for step in route.steps for key in (step.source, step.target)})
    sources = unique_sources(jobs.values())
    out = console()
    for number, route in enumerate(routes, 1):
        composed = route.transformation
        masked = ", masked" if composed.masking else ""
        say(f"path {number}: {counted(route.hops, 'hop')}, {composed.kind} {composed.subtype}{masked}", "bold")
        for step in route.steps:
            out.print(Text(f"  {_with_rows(names, step.source)}", "cyan"))
            how, target = f"    {step.kind} [{' '.join(step.subtypes)}]", _with_rows(names, step.target)
            beside = cell_len(how) + cell_len(target) + 3 <= out.width
            for line in [f"{how} → {target}"] if beside else [how, f"    → {target}"]:
                out.print(Text(line))
            job = jobs.get(step.job)
            if job is not None and job.sql and step.spans:
                for piece in excerpts(job, step.spans[0], out.width - 4, sources.get(job.key)):
                    out.print(Text("    ") + piece)
            elif job is not None:
                why = "its SQL has been replaced since" if job.sql and is_past else "stated without SQL"
                out.print(Text(f"    {sources.get(job.key) or job.key}: {why}", "dim"))
        out.print()


def _with_rows(names: Mapping[str, str], key: str) -> str:
    """Return a name, marked `(rows)` for a dataset."""
    return names[key] if is_column_key(key) else f"{names[key]} (rows)"
