"""A whole graph as lines of JSON, with its history: written from one store, read into an empty one of either kind.

The first line says what the file is, the last one what the store holds (`Contents`) and the number of lines between, so
that a file that was cut off is not taken for a whole graph. Between them is a node or relationship on each line; what
has no value is left out, times are ISO 8601 in UTC. A later version of the program reads the files of this one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime
from itertools import islice
from typing import Any, TypeAlias

from lineage.store.errors import StoreError
from lineage.store.graph.backend import Transaction
from lineage.store.graph.contents import Contents, contents_of, differences, key_pages, recorded_contents
from lineage.store.graph.schema import (
    LABELS,
    RELATIONSHIPS,
    SCHEMA_VERSION,
    Changes,
    Node,
    Properties,
    PropertyType,
    Relationship,
)
from lineage.store.graph.statements import query

__all__ = ["FORMAT", "export_graph", "import_changes"]

FORMAT = "lineage-graph"
_AT_ONCE = 5_000
_Progress: TypeAlias = Callable[[str, int, int | None], None]


def export_graph(
    transaction: Transaction, write: Callable[[str], object], progress: _Progress
) -> tuple[Contents, Contents]:
    """Write the graph as lines; return what they hold, and what is recorded. `progress` gets the lines so far."""
    held, number = Contents(), 0
    write(_line({"format": FORMAT, "version": SCHEMA_VERSION}))
    for part in _parts(transaction):
        held = held.plus(contents_of(part))
        for node in part.created_nodes:
            write(_line({"node": node.label, "key": node.key, **_to_json(node.properties, LABELS[node.label])}))
        for relationship in part.created_relationships:
            ends = {
                "from": [relationship.source_label, relationship.source],
                "to": [relationship.target_label, relationship.target],
            }
            properties = _to_json(relationship.properties, RELATIONSHIPS[relationship.type].properties)
            write(_line({"relationship": relationship.type, **ends, **properties}))
        number += len(part.created_nodes) + len(part.created_relationships)
        progress("exporting", number, None)
    write(_line({"end": held._asdict(), "lines": number}))
    return held, recorded_contents(transaction)


def import_changes(lines: Iterable[str], progress: _Progress) -> Iterator[Changes]:
    """Yield the nodes and relationships of lines as changes that create them, some thousands at a time.

    Raises:
        StoreError: they are no graph, one that a newer version wrote, or not all of it.
    """
    numbered = enumerate(lines, start=1)
    _check_head(next(numbered, (1, ""))[1])
    held, end, read, stated = Contents(), None, 1, 0
    while some := list(islice(numbered, _AT_ONCE)):
        nodes: list[Node] = []
        relationships: list[Relationship] = []
        for number, text in some:
            given = _parsed(number, text)
            if end is not None:
                raise StoreError(f"line {number} comes after the end of the graph", "two files were joined?")
            if "node" in given:
                nodes.append(_node(number, given))
            elif "relationship" in given:
                relationships.append(_relationship(number, given))
            elif "end" in given:
                end, stated = _end(number, given)
            read = number
        changes = Changes(created_nodes=tuple(nodes), created_relationships=tuple(relationships))
        held = held.plus(contents_of(changes))
        yield changes
        progress("importing", read, None)
    if end is None:
        raise StoreError(f"the file ends at line {read}, before the end of the graph", "export it again")
    lacking = differences(end, held) or [f"{read - 2:,} lines of {stated:,}"] * (stated != read - 2)
    if lacking:
        raise StoreError(f"the file does not hold the graph that it says: {lacking[0]}", "export it again")


def _parts(transaction: Transaction) -> Iterator[Changes]:
    for label, types in LABELS.items():
        for after, keys in key_pages(transaction, label):
            rows = transaction.read(query("nodes_after", label=(label,)), [{"after": after, "limit": len(keys)}])
            yield Changes(created_nodes=tuple(_stored_node(label, types, row["n"]) for row in rows))
    for name, kind in RELATIONSHIPS.items():
        for source, target in kind.ends:
            statement = query("relationships_between", **{"from": (source,), "type": (name,), "to": (target,)})
            for after, keys in key_pages(transaction, source):
                rows = transaction.read(statement, [{"after": after, "until": keys[-1]}])
                yield Changes(
                    created_relationships=tuple(
                        Relationship(
                            name, source, row["source"], target, row["target"], _own(row["e"], kind.properties)
                        )
                        for row in rows
                    )
                )


def _stored_node(label: str, types: Properties, properties: Mapping[str, Any]) -> Node:
    return Node(label, properties["key"], _own(properties, types))


def _related(name: str, ends: tuple[str, str, str, str], properties: dict[str, Any]) -> Relationship:
    return Relationship(name, *ends, properties)


def _own(properties: Mapping[str, Any], types: Properties) -> dict[str, Any]:
    return {name: properties.get(name) for name in types}


def _line(values: Mapping[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"


def _to_json(properties: Mapping[str, Any], types: Properties) -> dict[str, Any]:
    dated = (PropertyType.TIME, PropertyType.DAY)
    return {
        name: value.isoformat() if types[name] in dated else value
        for name, value in properties.items()
        if value is not None
    }


def _from_json(number: int, given: Mapping[str, Any], types: Properties, ends: frozenset[str]) -> dict[str, Any]:
    unknown = given.keys() - types.keys() - ends
    if unknown:
        raise StoreError(f"line {number} has {min(unknown)!r}, which this version does not know", "update lineage")
    read = {PropertyType.TIME: datetime.fromisoformat, PropertyType.DAY: date.fromisoformat}
    return {
        name: read[of](value) if of in read and (value := given.get(name)) is not None else given.get(name)
        for name, of in types.items()
    }


def _node(number: int, given: Mapping[str, Any]) -> Node:
    try:
        label, key = given["node"], given["key"]
        return Node(label, key, _from_json(number, given, LABELS[label], frozenset({"node", "key"})))
    except (KeyError, TypeError, ValueError) as error:
        raise _no_part(number) from error


def _relationship(number: int, given: Mapping[str, Any]) -> Relationship:
    try:
        name, (source_label, source), (target_label, target) = given["relationship"], given["from"], given["to"]
        types = RELATIONSHIPS[name].properties
        properties = _from_json(number, given, types, frozenset({"relationship", "from", "to"}))
        return Relationship(name, source_label, source, target_label, target, properties)
    except (KeyError, TypeError, ValueError) as error:
        raise _no_part(number) from error


def _end(number: int, given: Mapping[str, Any]) -> tuple[Contents, int]:
    try:
        return Contents(**given["end"]), int(given["lines"])
    except (KeyError, TypeError, ValueError) as error:
        raise _no_part(number) from error


def _no_part(number: int) -> StoreError:
    return StoreError(f"line {number} is no node or relationship of a lineage graph", "export it again")


def _parsed(number: int, text: str) -> dict[str, Any]:
    try:
        given = json.loads(text)
    except ValueError as error:
        raise StoreError(f"line {number} is no JSON: the file is damaged, or was cut off", "export it again") from error
    if not isinstance(given, dict):
        raise _no_part(number)
    return given


def _check_head(text: str) -> None:
    try:
        head = json.loads(text)
    except ValueError:
        head = None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise StoreError("this is no exported graph", "write one with `lineage store export`")
    if head.get("version", 0) > SCHEMA_VERSION:
        raise StoreError(f"a newer version of lineage wrote this graph (schema {head['version']})", "update lineage")
