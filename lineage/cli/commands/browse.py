"""`lineage search`, `lineage show` and `lineage columns`: find and show tables and columns."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any

import typer

from lineage.cli.answer_notes import note_broken_reads, note_retired
from lineage.cli.name_argument import NameArgument
from lineage.cli.store_options import FormatOption, RowsOption, StoreOption
from lineage.cli.traversal_flags import AsOfOption
from lineage.governance.tags.tag_names import with_tag_names
from lineage.model.names import dataset_of, is_column_key
from lineage.screen.facts import first_description, shown_facts, tags_of
from lineage.screen.formats import OutputFormat, print_listing
from lineage.screen.layout import Look
from lineage.screen.listing import counted, note, say
from lineage.store import open_store
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, StoredColumn, StoredDataset
from lineage.traversal import BrokenRead, Target, broken_reads, resolve
from lineage.traversal.lookup import names_of
from lineage.traversal.suggest import nearest_tables

__all__ = ["columns", "search", "show"]

_HITS = ("type", "name", "kind", "namespace", "tags", "description", "dropped")
_COLUMNS = ("position", "column", "type", "known by", "earlier names", "dropped", "tags", "description")
_HITS_LOOK = Look(
    names=("name", "namespace"), words=("tags", "description"), cuts=("kind", "name"), styles={"name": "bold"}
)
_COLUMNS_LOOK = Look(
    words=("earlier names", "tags", "description"),
    cuts=("type", "column"),
    phrases={"type": "{}", "description": "{}"},
    styles={"column": "bold"},
)


class SearchType(StrEnum):
    """What to search for."""

    TABLE = "table"
    COLUMN = "column"


def search(
    text: Annotated[str, typer.Argument(help="Part of a name; case does not matter.")] = "",
    store: StoreOption = None,
    of: Annotated[SearchType | None, typer.Option("--type", help="Only tables, or only columns.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Only results with this tag. Repeatable.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Maximum number of results, best first.")] = 20,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Find tables and columns by part of their name; exact matches come first.

    Example: lineage search amount --type column --json
    """
    if not text.strip() and not tag:
        raise typer.BadParameter("give part of a name, or --tag")
    types = {None: ("Table", "Column"), SearchType.TABLE: ("Table",), SearchType.COLUMN: ("Column",)}[of]
    with open_store(store, read_only=True) as opened:
        hits = opened.search(text, types=types, tags=tuple(tag or ()), limit=limit + 1)
        keys = [hit.key for hit in hits[:limit]]
        descriptions = _descriptions(opened, keys)
        near = nearest_tables(opened, text, columns=of is not SearchType.TABLE) if text and not descriptions else ()
    if not descriptions and output is not OutputFormat.JSON:
        note(f"no table or column matches {text!r}" if text else "no table or column has these tags", "yellow")
        if near:
            note(f"did you mean {', '.join(f'`{name}`' for name in near)}?")
    rows = (tuple(one[name] for name in _HITS) for one in descriptions)
    print_listing(_HITS, rows, output, _HITS_LOOK, values=lambda: descriptions)
    if len(hits) > limit:
        note(f"… and more; --limit {limit * 5} shows up to {limit * 5}")


def show(
    name: NameArgument,
    store: StoreOption = None,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Show a table: its columns, the jobs that write and read it, and its neighbours in the lineage.

    For a column, its table is shown with only this column.

    Example: lineage show shop.orders
    """
    with open_store(store, read_only=True) as opened:
        target = resolve(opened, name)
        [dataset] = opened.datasets([target.dataset])
        listed = _columns_of(opened, target, past=not target.is_table)
        facts = _facts(opened, dataset)
        broken = broken_reads(opened, [target.dataset])
        note_broken_reads(opened, broken)
        note_retired(opened, [target])
    if output.is_for_people:
        article = "an" if str(dataset.kind)[0] in "aeiou" else "a"
        say(f"{dataset.display_name} is {article} {dataset.kind} of {dataset.namespace}", subject=dataset.display_name)
        for label, value in _lines(facts):
            say(f"{label}: {value}")
        if not listed:
            note("its columns are not known", "yellow")
    print_listing(
        _COLUMNS,
        map(_column_row, listed),
        output,
        _COLUMNS_LOOK,
        values=lambda: {**facts, "columns": [_column_values(column, broken) for column in listed]},
    )


def columns(
    name: NameArgument,
    store: StoreOption = None,
    dropped: Annotated[bool, typer.Option("--dropped", help="Include dropped columns.")] = False,
    as_of: AsOfOption = None,
    rows: RowsOption = 0,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """List the columns of a table in order, with their types and earlier names.

    Example: lineage columns shop.orders --dropped
    """
    if dropped and as_of is not None:
        raise typer.BadParameter("--dropped lists the columns of all times and cannot be combined with --as-of")
    then = as_of.replace(tzinfo=UTC) if as_of is not None and as_of.tzinfo is None else as_of
    with open_store(store, read_only=True) as opened:
        target = resolve(opened, name)
        listed = _columns_of(opened, target, past=dropped or not target.is_table or then is not None)
        if then is not None:
            listed = [one for one in listed if one.is_there(then)]
        [dataset] = opened.datasets([target.dataset])
        broken = broken_reads(opened, [target.dataset]) if then is None else []
        note_broken_reads(opened, broken)
    if not listed and output is not OutputFormat.JSON:
        note(f"the columns of {dataset.display_name} are not known", "yellow")
    elif output.is_for_people:
        used = "; its schema is not known: these are the columns that queries use"
        guessed = used if all(one.inferred for one in listed) else "; it may have more"
        guessed = "" if dataset.schema_known else guessed
        say(f"{dataset.display_name}: {counted(len(listed), 'column')}{guessed}", subject=dataset.display_name)
    shown = listed[: rows or None] if output.is_for_people else listed
    print_listing(
        _COLUMNS,
        map(_column_row, shown),
        output,
        _COLUMNS_LOOK,
        values=lambda: [_column_values(column, broken) for column in listed],
    )
    if len(shown) < len(listed):
        note(f"… and {len(listed) - len(shown):,} more; --rows 0 shows all")


def _descriptions(store: GraphStore, keys: list[str]) -> list[dict[str, Any]]:
    """Return these tables and columns as JSON values, in this order."""
    names = names_of(store, keys)
    datasets = {one.key: one for one in store.datasets({dataset_of(key) for key in keys})}
    columns = with_tag_names(store, store.columns_by_key([key for key in keys if is_column_key(key)]))
    of_columns = {one.key: one for one in columns}
    found = []
    for key in keys:
        dataset, column = datasets[dataset_of(key)], of_columns.get(key)
        node: StoredDataset | StoredColumn = column or dataset
        found.append(
            {
                "type": "column" if column else "table",
                "name": names[key],
                "kind": (column.data_type if column else str(dataset.kind)) or "",
                "namespace": dataset.namespace,
                "tags": list(node.tags),
                "description": node.description,
                "key": key,
                "dropped": _time(node.dropped_at or dataset.dropped_at),
            }
        )
    return found


def _columns_of(store: GraphStore, target: Target, *, past: bool) -> list[StoredColumn]:
    """Return the columns of a dataset, or the target column alone; with dropped ones if `past`."""
    found = store.columns([target.dataset], dropped=past)
    return with_tag_names(store, (one for one in found if target.is_table or one.key == target.key))


def _facts(store: GraphStore, dataset: StoredDataset) -> dict[str, Any]:
    keys = store.job_keys_of([dataset.key])[dataset.key]
    jobs = store.jobs(keys) if keys else []
    before = {feed.source for feed in store.feed_keys([dataset.key], Direction.UPSTREAM)}
    after = {feed.target for feed in store.feed_keys([dataset.key], Direction.DOWNSTREAM)}
    names = store.dataset_names(before | after)
    former = {one.name: one.until for one in store.former_names([dataset.key])[dataset.key]}

    def named(of: Iterable[str]) -> list[str]:
        return sorted(names.get(key, key) for key in of)

    return {
        "key": dataset.key,
        "name": dataset.display_name,
        "namespace": dataset.namespace,
        "kind": str(dataset.kind),
        "dialect": dataset.dialect,
        "schema_known": dataset.schema_known,
        "other_names": [name for name in dataset.aliases if name not in (*former, dataset.name)],
        "earlier_names": [{"name": name, "until": _time(until)} for name, until in former.items()],
        "description": dataset.description or first_description(dataset.stated_facts),
        "tags": sorted({*dataset.tags, *tags_of(dataset.stated_facts)}),
        **shown_facts(dataset.stated_facts),
        "first_seen": _time(dataset.first_seen),
        "last_seen": _time(dataset.last_seen),
        "dropped": _time(dataset.dropped_at),
        "comes_from": named(before),
        "leads_to": named(after),
        "written_by": sorted(job.key for job in jobs if dataset.key in job.writes),
        "read_by": sorted(job.key for job in jobs if dataset.key in job.reads),
    }


def _lines(facts: dict[str, Any]) -> Iterable[tuple[str, str]]:
    """Yield the facts that have a value as labels and texts; long lists are cut."""
    most = 10
    for name, value in facts.items():
        if name in ("key", "name", "namespace", "kind", "schema_known") or not value:
            continue
        label = name.replace("_", " ")
        if isinstance(value, list):
            more = f" and {len(value) - most:,} more" if len(value) > most else ""
            yield label, ", ".join(map(_display, value[:most])) + more
        else:
            yield label, str(value)


def _display(item: str | dict[str, str]) -> str:
    return f"`{item}`" if isinstance(item, str) else f"`{item['name']}` until {item['until'][:10]}"


def _column_row(column: StoredColumn) -> tuple[object, ...]:
    position = None if column.ordinal is None else column.ordinal + 1
    known = "use" if column.inferred else "schema"
    dropped = f"{column.dropped_at:%Y-%m-%d %H:%M:%S}" if column.dropped_at else None
    facts = column.stated_facts
    of_people = (sorted({*column.tags, *tags_of(facts)}), column.description or first_description(facts))
    return (position, column.display_path, column.data_type, known, column.aliases, dropped, *of_people)


def _column_values(column: StoredColumn, broken: Iterable[BrokenRead]) -> dict[str, Any]:
    return {
        "key": column.key,
        "column": column.display_path,
        "type": column.data_type,
        "position": None if column.ordinal is None else column.ordinal + 1,
        "inferred": column.inferred,
        "earlier_names": list(column.aliases),
        "first_seen": _time(column.first_seen),
        "dropped": _time(column.dropped_at),
        "tags": sorted({*column.tags, *tags_of(column.stated_facts)}),
        "description": column.description or first_description(column.stated_facts),
        "broken_readers": sorted({one.reader_name for one in broken if one.column == column.key}),
        **shown_facts(column.stated_facts),
    }


def _time(at: datetime | None) -> str | None:
    return at.astimezone(UTC).isoformat() if at else None
