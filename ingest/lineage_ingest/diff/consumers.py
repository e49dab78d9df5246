"""The consumers of a dbt project that a change reaches: exposures, metrics, saved queries, with their owners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lineage_ingest.diff.classification import TableDiff
from lineage_ingest.diff.manifest_json import DbtTest, ManifestJson

__all__ = ["AffectedConsumer", "affected_consumers", "owner_of", "tests_to_run"]

_SECTIONS = ("exposures", "metrics", "semantic_models", "saved_queries")


@dataclass(frozen=True, slots=True)
class AffectedConsumer:
    """A consumer, and the changed or affected tables that it reads, directly or through other consumers."""

    key: str
    kind: str
    name: str
    owner: str | None
    url: str | None
    reads: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "key": self.key, "kind": self.kind, "name": self.name, "owner": self.owner, "url": self.url,
            "reads": list(self.reads),
        }  # fmt: skip


def affected_consumers(manifest: ManifestJson, tables: Mapping[str, TableDiff]) -> list[AffectedConsumer]:
    """Return the consumers that read a table whose content may differ, sorted by kind and name.

    Which columns an exposure reads is not known: any change of a table reaches it.
    """
    nodes = {key: node for section in _SECTIONS for key, node in manifest.section(section).items()}
    found = []
    for key, node in nodes.items():
        reads = sorted({tables[one].title for one in _tables_below(manifest, nodes, key)
                        if one in tables and tables[one].is_content})  # fmt: skip
        if reads:
            kind = key.partition(".")[0]
            name = str(node.get("label") or node.get("name"))
            url = node.get("url")
            link = url if isinstance(url, str) else None
            found.append(AffectedConsumer(key, kind, name, owner_of(manifest, key), link, tuple(reads)))
    return sorted(found, key=lambda one: (one.kind, one.name, one.key))


def _tables_below(manifest: ManifestJson, nodes: Mapping[str, Any], key: str) -> set[str]:
    seen: set[str] = set()
    stack = [key]
    while stack:
        one = stack.pop()
        if one in seen:
            continue
        seen.add(one)
        if one in nodes:
            stack += manifest.needs_of(nodes[one])
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


def tests_to_run(manifest: ManifestJson, tables: Mapping[str, TableDiff]) -> list[DbtTest]:
    """Return the tests whose result may differ, sorted by name.

    A test of one column is left out if that column, and the row set of its table, are unchanged.
    """
    return sorted(
        (test for test in manifest.tests() if _may_differ(test, tables)), key=lambda test: (test.name, test.key)
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
