"""The consumers of a dbt project that a change reaches: exposures, metrics, saved queries, with their owners."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any

from lineage.frozen import frozen
from lineage_ingest.diff.definitions.classification import ColumnEffect, TableDiff, TableEffect
from lineage_ingest.diff.effects.consumer_columns import ConsumerColumns
from lineage_ingest.diff.revisions.manifest_json import DbtTest, ManifestJson

__all__ = ["AffectedConsumer", "affected_consumers", "owner_of", "tests_to_run"]

_DEFINITION = {
    "exposures": ("type", "depends_on"),
    "metrics": ("type", "type_params", "filter", "time_granularity"),
    "semantic_models": ("model", "entities", "dimensions", "measures", "defaults", "primary_entity"),
    "saved_queries": ("query_params",),
}
"""What defines a consumer; where its model is built differs by environment."""


@frozen
class AffectedConsumer:
    """A consumer that a change reaches.

    `reads` are the changed or affected tables that it reads, directly or through other consumers, and the consumers
    among those that are edited. `change` is what happens to its own definition: edited or removed, or None.
    """

    key: str
    kind: str
    name: str
    owner: str | None
    url: str | None
    reads: tuple[str, ...]
    change: str | None = None

    @property
    def effect(self) -> str:
        """What the change does to it, in words."""
        parts = [f"is {self.change}"] if self.change else []
        return " and ".join([*parts, f"reads {', '.join(self.reads)}"] if self.reads else parts)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "key": self.key, "kind": self.kind, "name": self.name, "owner": self.owner, "url": self.url,
            "reads": list(self.reads), "change": self.change,
        }  # fmt: skip


def affected_consumers(
    base: ManifestJson, head: ManifestJson, tables: Mapping[str, TableDiff], columns: ConsumerColumns
) -> list[AffectedConsumer]:
    """Return the consumers that are edited or removed, or read what is, sorted by kind and name.

    Which columns an exposure reads is not known: any change of a table reaches it. Semantic models, metrics and saved
    queries are reached by way of `columns` that they read.
    """
    before, nodes = _consumers(base), _consumers(head)
    moved = moved_sources(base, head)
    edited = {key for key, (section, node) in nodes.items() if key in before
              and _definition(section, before[key][1]) != _definition(section, node)}  # fmt: skip
    models = _SemanticModels(base, head, tables, moved.keys())
    consumers = []
    for key, (_, node) in nodes.items():
        read = columns.read_by(key)
        below = _below(head, nodes, key, partial(models.is_reached, read))
        reads = {tables[one].title for one in below if one in tables and _is_other(tables[one]) and one != key}
        reads |= {str(nodes[one][1].get("name")) for one in below & edited if one != key}
        reads |= {moved[one] for one in below & moved.keys()}
        if reads or key in edited:
            consumers.append(_affected(head, key, node, sorted(reads), "edited" if key in edited else None))
    gone = (key for key in before if key not in nodes)
    consumers += (_affected(base, key, before[key][1], (), "removed") for key in gone)
    return sorted(consumers, key=lambda one: (one.kind, one.name, one.key))


class _SemanticModels:
    """Says whether what a change does to semantic models concerns some of their columns."""

    def __init__(
        self, base: ManifestJson, head: ManifestJson, tables: Mapping[str, TableDiff], moved: AbstractSet[str]
    ) -> None:
        self._base, self._head = base.section("semantic_models"), head.section("semantic_models")
        self._tables = tables
        self._moved = moved

    def is_reached(self, read: Mapping[str, Collection[str] | None], key: str) -> bool:
        """Return whether a change reaches the columns that are `read` of a semantic model, by its unique id.

        None: any of its columns. Other nodes are always reached.
        """
        columns = read.get(key)
        after, before = self._head.get(key), self._base.get(key)
        table = self._tables.get(key)
        if after is None or table is None:
            return True
        needs = ManifestJson.needs_of(after)
        renamed = (one for one in needs if one in self._tables and self._tables[one].effect is TableEffect.RENAMED)
        if any(renamed) or not self._moved.isdisjoint(needs) or _reads_columns(table, columns):
            return True
        edited = _edited_elements(before, after) if before is not None else set[str]()
        return edited is None or bool(edited if columns is None else edited.intersection(columns))


def _reads_columns(table: TableDiff, columns: Collection[str] | None) -> bool:
    """Return whether some of these columns of a semantic model (None: any) contain something else."""
    if columns is None or not table.columns:
        return table.is_content
    names = {*columns, "*"}
    return any(
        one.is_content
        and (ColumnEffect.ROWS in one.effects or not names.isdisjoint((one.name.lower(), (one.earlier or "").lower())))
        for one in table.columns
    )


_ELEMENTS = ("entities", "dimensions", "measures")


def _edited_elements(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str] | None:
    """Return the columns of a semantic model whose definitions differ; None if they are edited all together."""
    settings = [name for name in _DEFINITION["semantic_models"] if name not in _ELEMENTS]
    if any(_without_unset(before.get(name)) != _without_unset(after.get(name)) for name in settings):
        return None
    found: set[str] = set()
    for name in _ELEMENTS:
        sides = [_by_name(side.get(name)) for side in (before, after)]
        found |= {one for one in sides[0].keys() | sides[1].keys() if sides[0].get(one) != sides[1].get(one)}
    return found


def _by_name(elements: object) -> dict[str, object]:
    listed = elements if isinstance(elements, list) else []
    return {str(one.get("name")).lower(): _without_unset(one) for one in listed if isinstance(one, Mapping)}


def _is_other(table: TableDiff) -> bool:
    return table.is_content or table.effect is TableEffect.RENAMED


def moved_sources(base: ManifestJson, head: ManifestJson) -> dict[str, str]:
    """Return the names of the sources that are another table of the database after the change, by unique id."""
    before, after = base.section("sources"), head.section("sources")
    return {
        key: f"{node.get('source_name')}.{node.get('name')}"
        for key, node in after.items()
        if key in before and _bare(before[key].get("relation_name")) != _bare(node.get("relation_name"))
    }


def _bare(relation: object) -> str:
    return str(relation or "").translate(_QUOTES).casefold()


_QUOTES = str.maketrans("", "", '"`[]')


def _consumers(manifest: ManifestJson) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Return the consumers by unique id, each with its section."""
    return {key: (section, node) for section in _DEFINITION for key, node in manifest.section(section).items()}


def _affected(
    manifest: ManifestJson, key: str, node: Mapping[str, Any], reads: Sequence[str], change: str | None
) -> AffectedConsumer:
    url = node.get("url")
    name = str(node.get("label") or node.get("name"))
    link = url if isinstance(url, str) else None
    return AffectedConsumer(key, key.partition(".")[0], name, owner_of(manifest, key), link, tuple(reads), change)


def _definition(section: str, node: Mapping[str, Any]) -> object:
    return {name: _without_unset(node.get(name)) for name in _DEFINITION[section]}


def _without_unset(value: Any) -> Any:
    """Return a value without what is not set: another version of dbt lists other names."""
    if isinstance(value, Mapping):
        found = {key: _without_unset(one) for key, one in value.items() if key not in ("macros", "metadata", "config")}
        return {key: one for key, one in found.items() if one not in (None, {}, [], False)}
    return [_without_unset(one) for one in value] if isinstance(value, list) else value


def _below(
    manifest: ManifestJson,
    nodes: Mapping[str, tuple[str, Mapping[str, Any]]],
    key: str,
    is_reached: Callable[[str], bool],
) -> set[str]:
    """Return the consumers that one needs, itself included, and the other nodes that these need, as far as reached."""
    seen: set[str] = set()
    stack = [key]
    while stack:
        node_key = stack.pop()
        if node_key in seen or not is_reached(node_key):
            continue
        seen.add(node_key)
        if node_key in nodes:
            stack += manifest.needs_of(nodes[node_key][1])
    return seen


def owner_of(manifest: ManifestJson, key: str) -> str | None:
    """Return who owns a node: its own owner, else `meta.owner`, else the owner of its group."""
    node = manifest.node(key) or manifest.consumer(key)
    config = node.get("config")
    group = node.get("group") or (config.get("group") if isinstance(config, Mapping) else None)
    group_node = next((one for one in manifest.section("groups").values() if one.get("name") == group), {})
    metas = [node.get("meta"), config.get("meta") if isinstance(config, Mapping) else None]
    given = [
        node.get("owner"),
        *(one.get("owner") for one in metas if isinstance(one, Mapping)),
        group_node.get("owner"),
    ]
    return next((found for one in given if (found := _owner_text(one)) is not None), None)


def _owner_text(owner: object) -> str | None:
    if isinstance(owner, Mapping):
        owner = owner.get("name") or owner.get("email")
    if isinstance(owner, list):
        owner = ", ".join(map(str, owner))
    return owner if isinstance(owner, str) and owner else None


def tests_to_run(base: ManifestJson, head: ManifestJson, tables: Mapping[str, TableDiff]) -> list[DbtTest]:
    """Return the tests whose result may differ, sorted by name: of tables that differ, new ones, and edited ones.

    A test of one column is left out if that column, and the row set of its table, are unchanged. One with variables
    that dbt has not compiled is run: it may read other values.
    """
    moved = moved_sources(base, head)
    return sorted(
        (
            test
            for test in head.tests()
            if _may_differ(test, tables)
            or not moved.keys().isdisjoint(test.reads)
            or base.test_definition(test.key) != head.test_definition(test.key)
            or any(side.is_test_of_unknown_values(test.key) for side in (base, head))
        ),
        key=lambda test: (test.name, test.key),
    )


def _may_differ(test: DbtTest, tables: Mapping[str, TableDiff]) -> bool:
    for key in test.reads:
        table = tables.get(key)
        if table is None or not table.is_content:
            continue
        if key != test.attached or test.column is None or test.reads_more:
            return True
        column = test.column.lower()
        names = (name for one in table.columns if one.is_content for name in (one.name, one.earlier))
        if any(name is not None and name.lower() == column for name in names):
            return True
    return False
