"""Personal data that a change carries to columns that had none."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from lineage.frozen import frozen
from lineage.governance.tags.tag_names import with_tag_names
from lineage.model.names import dataset_key, split_column_key, split_location
from lineage.store.protocol import GraphStore
from lineage_ingest.diff.definitions.classification import TableDiff
from lineage_ingest.diff.effects.edges import Place, ProjectEdges
from lineage_ingest.diff.revisions.manifest_json import ManifestJson
from lineage_ingest.diff.revisions.revisions import Revision

__all__ = ["NewCarrier", "is_any_tagged", "is_tagged_otherwise", "new_carriers"]


@frozen(order=True)
class NewCarrier:
    """A column to which personal data flows unmasked after the change, and did not before; `source` is tagged."""

    table: str
    column: str
    source: str

    def __str__(self) -> str:
        return f"personal data of {self.source} flows to {self.table}.{self.column}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"table": self.table, "column": self.column, "source": self.source}


def new_carriers(
    sides: tuple[Revision, Revision],
    edges: tuple[ProjectEdges, ProjectEdges],
    tables: Mapping[str, TableDiff],
    tag: str,
    store: GraphStore | None,
) -> list[NewCarrier]:
    """Return the columns to which tagged columns flow unmasked in the second side only.

    Tagged are columns with `tag` among their tags, or with `meta: {TAG: true}`, in dbt or in the store, where people or
    other projects may have said so.

    Raises:
        StoreError: the store could not be read.
    """
    tagged = []
    for side, flow in zip(sides, edges, strict=True):
        listed = _tagged(side, tag)
        if store is not None:
            listed |= _tagged_in_store(store, side, flow, tag)
        tagged.append(_as_in_sql(listed, flow))
    # A table may have another name after the change; what people tagged in the store, they tagged before it.
    names = {table.name_before: table.name for table in tables.values() if table.name_before is not None}
    tagged_before = {(names.get(table, table), column) for table, column in tagged[0]}
    before = {(names.get(table, table), column) for table, column in edges[0].carriers(tagged[0])}
    after = edges[1].carriers(tagged[1] | tagged_before)
    known = before | tagged_before
    for table in tables.values():  # a renamed column carries what it did
        for column in table.columns:
            if column.earlier is not None and (table.name, column.earlier) in known:
                known.add((table.name, column.name))
    new = [place for place in after if place not in known]
    return sorted(NewCarrier(table, column, ".".join(_origin(after, (table, column)))) for table, column in new)


def _as_in_sql(tagged: set[Place], flow: ProjectEdges) -> set[Place]:
    """Return tagged columns, with those that SQL writes in another case: a properties file need not say how."""
    folded = {(table, column.casefold()) for table, column in tagged}
    read = {(edge.source.table or "", str(edge.source.column)) for _, one in flow.statements for edge in one.edges}
    return tagged | {(table, column) for table, column in read if (table, column.casefold()) in folded}


def is_any_tagged(sides: tuple[Revision, Revision], tag: str) -> bool:
    """Return whether a column of either side is tagged in dbt."""
    return any(side.manifest is not None and _tagged_columns(side.manifest, tag) for side in sides)


def is_tagged_otherwise(sides: tuple[Revision, Revision], tag: str) -> bool:
    """Return whether the columns that are tagged in dbt are others in the second side."""
    before, after = (_tagged_columns(side.manifest, tag) if side.manifest is not None else set() for side in sides)
    return before != after


def _origin(flow: Mapping[Place, Place], place: Place) -> Place:
    seen = {place}
    while place in flow and flow[place] not in seen:
        place = flow[place]
        seen.add(place)
    return place


def _tagged(side: Revision, tag: str) -> set[Place]:
    if side.manifest is None or side.request is None:
        return set()
    names = side.request.names
    artifacts = side.request.artifacts.manifest
    nodes = {**artifacts.nodes, **artifacts.sources}
    fold = side.naming.dialect.fold_column
    return {
        (names.table(nodes[key]), str(fold(column, quoted=False)))
        for key, column in _tagged_columns(side.manifest, tag)
        if key in nodes
    }


def _tagged_columns(manifest: ManifestJson, tag: str) -> set[tuple[str, str]]:
    found = set()
    for key, node in {**manifest.nodes, **manifest.section("sources")}.items():
        columns = node.get("columns")
        for name, column in columns.items() if isinstance(columns, Mapping) else ():
            if not isinstance(column, Mapping):
                continue
            config = column.get("config")
            for where in (column, config if isinstance(config, Mapping) else {}):
                tags, meta = where.get("tags"), where.get("meta")
                listed = tags if isinstance(tags, list) else []
                marks = meta.items() if isinstance(meta, Mapping) else ()
                if _is_marked(tag, listed, marks):
                    found.add((key, str(column.get("name", name))))
    return found


def _is_marked(tag: str, tags: Iterable[object], meta: Iterable[tuple[object, object]]) -> bool:
    """Return whether a tag is among tags, or is metadata with a value that is true; case is ignored."""
    return tag.lower() in (str(one).lower() for one in tags) or any(
        str(name).lower() == tag.lower() and bool(value) for name, value in meta
    )


def _tagged_in_store(store: GraphStore, side: Revision, flow: ProjectEdges, tag: str) -> set[Place]:
    names = {name for target, statement in flow.statements for name in (target, *statement.sources)}
    keys = {dataset_key(*(split_location(name) or (side.naming.dataset_namespace, name))): name for name in names}
    found = set()
    for column in with_tag_names(store, store.columns(sorted(keys))) if keys else ():
        facts = column.stated_facts
        tags = (*column.tags, *(one for each in facts for one in each.tags))
        meta = ((name, json.loads(value)) for each in facts for name, value in each.meta)
        if _is_marked(tag, tags, meta):
            dataset, path = split_column_key(column.key)
            found.add((keys[dataset], path))
    return found
