"""The names of relations: the same dataset keys as SQL, query logs and OpenLineage events give."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from lineage.frozen import frozen
from lineage.model.dialects import UnknownDialectError, dialect_named
from lineage.model.files import Environment, FileKey
from lineage.model.names import Naming, split_name
from lineage.sql.extraction import extract
from lineage_ingest.dbt.artifacts.manifest import Manifest
from lineage_ingest.dbt.artifacts.manifest_nodes import DbtNode, ResourceType

__all__ = ["ProjectNames", "dialect_of_adapter", "target_defaults"]

_ADAPTERS = {"sqlserver": "tsql", "synapse": "tsql", "fabric": "tsql", "fabricspark": "spark", "athena": "trino",
             "spark": "spark", "glue": "spark", "starburst": "trino", "mariadb": "mysql", "mysql5": "mysql",
             "materialize": "postgres", "greenplum": "postgres", "singlestore": "mysql"}  # fmt: skip
"""Adapters that are not called like the dialect of their SQL."""

_IN_TARGET = (ResourceType.MODEL, ResourceType.SNAPSHOT, ResourceType.SEED)

_FILE = re.compile(r"'|\w+\s*\(")
"""A path, or a function that reads one: https://github.com/duckdb/dbt-duckdb#reading-and-writing-external-files."""


def dialect_of_adapter(adapter: str | None) -> str | None:
    """Return the name of the dialect of an adapter's SQL; None if it is not known.

    >>> dialect_of_adapter("sqlserver"), dialect_of_adapter("duckdb"), dialect_of_adapter("acme")
    ('tsql', 'duckdb', None)
    """
    name = _ADAPTERS.get(adapter or "", adapter or "")
    try:
        return dialect_named(name).name if name else None
    except UnknownDialectError:
        return None


def target_defaults(manifest: Manifest) -> tuple[str | None, str | None]:
    """Return the database and schema of dbt's target, as the manifest shows them.

    A node without a custom schema is in the target's schema; where all have one, dbt's default is
    `TARGET_CUSTOM`, and projects may put the target's name behind it, or put everything into the target's schema
    (https://docs.getdbt.com/docs/build/custom-schemas). If each is in the custom one, the target's is not known.
    """
    databases: Counter[str | None] = Counter()
    schemas: Counter[str | None] = Counter()
    nodes = tuple(manifest.nodes.values()) or tuple(one for one in manifest.disabled if one.resource_type in _IN_TARGET)
    for node in nodes:
        if node.is_ephemeral or node.schema_ is None or node.is_of_another_project:
            continue
        for counts, name, custom in (
            (databases, node.database, node.config.custom_database),
            (schemas, node.schema_, node.config.custom_schema),
        ):
            if name is not None:
                counts[_without_custom(name, custom)] += len(nodes) if custom is None else 1
    return _most_common(databases), _most_common(schemas)


def _without_custom(name: str, custom: str | None) -> str | None:
    """Return what a name has besides that of the node's settings; None if nothing. Its case may differ.

    >>> _without_custom("dev_marts", "marts"), _without_custom("MARTS", "marts"), _without_custom("dev", "marts")
    ('dev', None, 'dev')
    """
    if custom is None or name.lower() == custom.lower():
        return name if custom is None else None
    return re.sub(rf"_{re.escape(custom)}\Z|\A{re.escape(custom)}_", "", name, flags=re.IGNORECASE)


def _most_common(counts: Counter[str | None]) -> str | None:
    return min(counts, key=lambda name: (-counts[name], name or ""), default=None)


@frozen
class ProjectNames:
    """The names in one project and environment: of relations, files and jobs."""

    project: str
    naming: Naming

    @property
    def environment(self) -> Environment:
        """The environment of the project's files."""
        return Environment.of(self.naming)

    def table(self, node: DbtNode) -> str:
        """Return the full name of a node's relation, as its compiled SQL names it."""
        if node.relation_name:
            return self.relation(node.relation_name)
        last = node.identifier or node.alias or node.name
        return self.relation_of([part for part in (node.database, node.schema_, last) if part], quoted=True)

    def relation(self, text: str) -> str:
        """Return the full name of a relation, as compiled SQL names it; of a file (dbt-duckdb's sources), its path."""
        if _FILE.match(text):
            query = f"select * from {text}"  # noqa: S608  it is read, not run
            read = [name for one in extract(query, self.naming.dialect) for name in one.sources]
            if len(read) == 1:
                return read[0]
        parts = list(split_name(text))
        if len(parts) == 1 and self.naming.dialect.quotes_whole_paths:
            parts = [(part, True) for part in parts[0][0].split(".")]
        return self._full_name(parts)

    def relation_of(self, parts: Sequence[str], *, quoted: bool) -> str:
        """Return the full name of a relation of this database, schema and name."""
        return self._full_name([(part, quoted) for part in parts])

    def _full_name(self, parts: Sequence[tuple[str, bool]]) -> str:
        fold = self.naming.dialect.fold_table
        return str(self.naming.qualify([str(fold(part, quoted=quoted)) for part, quoted in parts]))

    def file_key(self, unique_id: str) -> FileKey:
        """Return the key under which the jobs and diagnostics of a node are known."""
        return FileKey(f"dbt/{self.project}", unique_id, self.environment)

    def id_of(self, file_key: str) -> str:
        """Return the unique id of the node with this file key."""
        return FileKey.parse(file_key).path

    def is_built(self, node: DbtNode) -> bool:
        """Return whether dbt builds a relation for the node; those of other projects are only referred to."""
        is_model = node.resource_type in (ResourceType.MODEL, ResourceType.SNAPSHOT)
        return is_model and not node.is_ephemeral and not node.is_of_another_project
