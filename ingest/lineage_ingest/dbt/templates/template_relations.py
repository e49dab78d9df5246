"""Relations and their columns in templates: `{{ this.schema }}`, `adapter.get_columns_in_relation(ref('orders'))`.

https://docs.getdbt.com/reference/dbt-classes
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from lineage.model.spelling import as_written
from lineage.model.statement import ColumnSchema
from lineage_ingest.dbt.artifacts.manifest_nodes import DbtNode

__all__ = ["KnownColumns", "RelationText", "TemplateColumn"]

_SIZE = re.compile(r"\(\s*(\d+)")
_STRING = re.compile(r"text|string|(?:n?var)?char|character", re.IGNORECASE)
_UNKNOWN_TYPE = "unknown"


class KnownColumns(NamedTuple):
    """The columns of a relation that a template asks for; if they are not `complete`, there may be others."""

    columns: tuple[ColumnSchema, ...]
    complete: bool


class RelationText(str):
    """A relation as SQL names it, with the parts of its name and what else templates ask of a relation."""

    is_cte = False
    type: str
    database: str | None
    schema: str | None
    identifier: str
    name: str
    table: str
    node: DbtNode

    def __new__(cls, text: str, node: DbtNode) -> RelationText:
        """Return the text of a node's relation."""
        made = super().__new__(cls, text)
        made.node, made.database, made.schema = node, node.database, node.schema_
        made.identifier = made.name = made.table = node.identifier or node.alias or node.name
        made.type = "view" if node.config.materialized == "view" else "table"
        return made

    @property
    def is_view(self) -> bool:
        """Whether it is a view."""
        return self.type == "view"

    @property
    def is_table(self) -> bool:
        """Whether it is a table."""
        return not self.is_view

    def render(self) -> str:
        """Return it as SQL names it."""
        return str(self)

    def get(self, key: str, default: Any = None) -> Any:
        """Return a part of it as of a mapping: packages tell relations from texts by `metadata`."""
        known: Mapping[str, Any] = {
            "metadata": {"type": "Relation"}, "type": self.type,
            "path": {"database": self.database, "schema": self.schema, "identifier": self.identifier},
        }  # fmt: skip
        return known.get(key, default)


class TemplateColumn:
    """A column in a template: https://docs.getdbt.com/reference/dbt-classes#column."""

    def __init__(self, column: ColumnSchema, quote: Callable[[object], str]) -> None:
        """Take its name as the database displays it; of an unknown type, the name is `unknown`."""
        name = column.name
        self.name = self.column = as_written(name)
        self.quoted = quote(self.name)
        self.data_type = self.dtype = column.data_type or _UNKNOWN_TYPE

    def __repr__(self) -> str:
        return f"<Column {self.name} ({self.data_type})>"

    def is_string(self) -> bool:
        """Return whether it is a text."""
        return _STRING.match(self.data_type) is not None

    def string_size(self) -> int:
        """Return the largest number of characters of a text."""
        size = _SIZE.search(self.data_type)
        return int(size[1]) if size is not None else 256
