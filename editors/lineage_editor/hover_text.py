"""The text that an editor shows over a name: where its values come from and go to, and what is not known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.statement import ColumnRef, Completeness
from lineage.screen.facts import first_description, tags_of
from lineage.screen.listing import counted
from lineage.sql.outline.query_outline import TracedSource
from lineage.store.values import Direction, StoredColumn
from lineage_editor.analysis import DocumentAnalysis, NameAtCursor, PlacedColumn
from lineage_editor.graph_answers import GraphAnswers, joined

__all__ = ["hover_text"]

_SHOWN = 8


def hover_text(
    analysis: DocumentAnalysis, name: NameAtCursor, graph: GraphAnswers | None, problem: str | None = None
) -> str:
    """Return the text for a name, as Markdown; `problem` is why the store does not answer."""
    lines: list[str] = []
    if name.mention is not None:
        lines += _of_table(analysis, name, graph)
    for number, placed in enumerate(name.columns):
        lines += ["---"] if number else []
        lines += _of_column(analysis, placed, graph)
    if len(name.columns) > 1:
        lines.insert(0, f"_One name for {len(name.columns)} columns:_")
    lines += _completeness(analysis, name)
    if graph is None:
        lines.append(f"**Partial:** {problem or 'no store is open'}: only this file is known.")
    return "\n\n".join(lines)


def _completeness(analysis: DocumentAnalysis, name: NameAtCursor) -> Iterator[str]:
    statement = analysis.statements[name.statement]
    if statement.lineage.completeness is not Completeness.FULL:
        reason = statement.lineage.reason or "see the diagnostics of the statement"
        level = "Partial" if statement.lineage.completeness is Completeness.PARTIAL else "Tables only"
        yield f"**{level}:** of this statement not everything is known ({reason})."


def _of_column(analysis: DocumentAnalysis, placed: PlacedColumn, graph: GraphAnswers | None) -> Iterator[str]:
    place, column = placed.place, analysis.column(placed)
    statement = analysis.statements[placed.statement]
    target = analysis.target_of(placed)
    if place.block is not None:
        owner = statement.blocks[place.block].name
        where = (
            f" · column of `{owner}`" if owner else f" · column of `{target.table}`" if target and target.table else ""
        )
        yield f"**`{place.name}`**{where}"
    if column is not None:
        yield from _sources(column.sources)
    stored = graph.column(target.table, target.column) if graph is not None and target and target.table else None
    if place.block is None:
        yield _heading(place.table, place.name, stored)
    if stored is not None:
        yield from _described(stored)
    flows = [one for one in analysis.flows_to(placed) if one.table is not None or place.block is None]
    if flows:
        yield f"**In this file →** {_listed(map(_shown, flows))}"
    if influenced := analysis.influences(placed):
        yield f"**Decides rows of** {_listed(f'`{one}`' for one in influenced)}"
    if graph is None:
        return
    if target is not None and target.table is not None and stored is None:
        yield _not_stored(graph, target)
    above = (
        [ColumnRef(one.table, one.column) for one in column.sources if one.subtype.kind is EdgeKind.CONTRIBUTES]
        if column is not None
        else [target]
    )
    yield from _reached("Comes from", graph, above, Direction.UPSTREAM)
    yield from _reached("Goes to", graph, [target] if stored is not None else flows, Direction.DOWNSTREAM)


def _heading(table: str | None, name: str, stored: StoredColumn | None) -> str:
    kind = f" `{stored.data_type}`" if stored is not None and stored.data_type else ""
    return f"**`{table}.{name}`**{kind}"


def _described(stored: StoredColumn) -> Iterator[str]:
    described = stored.description or first_description(stored.stated_facts)
    if described:
        yield described
    tags = dict.fromkeys((*stored.tags, *tags_of(stored.stated_facts)))
    if tags:
        yield f"Tags: {', '.join(tags)}"
    if stored.inferred:
        yield "_Known from queries only, from no schema._"


def _not_stored(graph: GraphAnswers, target: ColumnRef) -> str:
    tables = graph.datasets(str(target.table))
    if len(tables) > 1:
        return (
            f"**Partial:** {len(tables)} tables of the store are called `{target.table}`; set a namespace or a schema."
        )
    what = f"column `{target.column}` of `{target.table}`" if tables else f"table `{target.table}`"
    return f"**Partial:** the store does not know the {what}."


def _sources(sources: Sequence[TracedSource]) -> Iterator[str]:
    """Yield what a value comes from, and what only has an influence on it."""
    for kind, words in ((EdgeKind.CONTRIBUTES, "Value from"), (EdgeKind.REFERENCES, "Influenced by")):
        own = dict.fromkeys(one for one in sources if one.subtype.kind is kind)
        if own:
            yield f"**{words}** {_listed(map(_source, own))}"
    if not sources:
        yield "_No column: a constant, a count or a function without arguments._"


def _source(source: TracedSource) -> str:
    how = [] if source.subtype is Subtype.IDENTITY else [str(source.subtype).lower().replace("_", " ")]
    how += ["masked"] if source.masking else []
    return f"`{source.table}.{source.column}`" + (f" ({', '.join(how)})" if how else "")


def _reached(
    words: str, graph: GraphAnswers, starts: Iterable[ColumnRef | None], direction: Direction
) -> Iterator[str]:
    """Yield what the store knows to be beyond some columns: those of its own that this text reads or writes."""
    stored = dict.fromkeys(
        found
        for one in starts
        if one is not None and one.table is not None and (found := graph.column(one.table, one.column)) is not None
    )
    if not stored:
        return
    reach = joined([graph.reach(one, direction) for one in list(stored)[:_SHOWN]])
    flows = [one for one in reach.columns if EdgeKind.CONTRIBUTES in one.influence]
    shown, total = flows or list(reach.columns), len(reach.columns)
    if total:
        only = f", {total - len(flows):,} of them by influence only" if len(flows) < total else ""
        head = f"**{words}** {counted(total, 'column')} in {counted(reach.tables, 'table')}{only}"
        names = (f"`{reach.names.get(one.key, one.key)}`{' (masked)' if one.masked else ''}" for one in shown)
        yield f"{head}: {_listed(names)}"
    elif not reach.possibly_affected and not reach.doubts:
        yield f"**{words}** nothing else that the store knows"
    if reach.possibly_affected:
        tables = _listed(f"`{one}`" for one in reach.possibly_affected)
        yield f"**Partial:** of {counted(len(reach.possibly_affected), 'more table')} no columns are known: {tables}"
    if len(stored) > _SHOWN:
        yield f"**Partial:** looked at {_SHOWN} of {len(stored)} columns only."
    for doubt in reach.doubts:
        yield f"**Partial:** {doubt}."


def _listed(names: Iterable[str]) -> str:
    """Return some of the names, and how many more there are."""
    found = list(names)
    more = f" and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more


def _shown(reference: ColumnRef) -> str:
    return f"`{reference.table}.{reference.column}`" if reference.table else f"`{reference.column}` (output)"


def _of_table(analysis: DocumentAnalysis, name: NameAtCursor, graph: GraphAnswers | None) -> Iterator[str]:
    mention = name.mention
    statement = analysis.statements[name.statement]
    if mention is None or mention.table is None:
        columns = [
            one.name for block in (mention.blocks if mention else ())[:1] for one in statement.blocks[block].columns
        ]
        yield f"CTE · {counted(len(columns), 'column')}: {_listed(f'`{one}`' for one in columns)}"
        return
    yield f"**`{mention.table}`**"
    if graph is None:
        return
    datasets = graph.datasets(mention.table)
    if len(datasets) != 1:
        yield (
            _not_stored(graph, ColumnRef(mention.table, ""))
            if datasets
            else (f"**Partial:** the store does not know the table `{mention.table}`.")
        )
        return
    dataset = datasets[0]
    columns = [one.display_path for one in graph.columns(dataset.key) if one.parent is None]
    listed = _listed(f"`{one}`" for one in columns)
    yield f"{dataset.kind} in {dataset.namespace} · {counted(len(columns), 'column')}: {listed}"
    if described := dataset.description or first_description(dataset.stated_facts):
        yield described
    files = dict.fromkeys(one.path or one.source or "" for one in graph.writers(dataset.key))
    if names := [f"`{one}`" for one in files if one]:
        yield f"Written by {_listed(names)}"
