"""The columns that properties files describe, read when they are asked for: they are most of what a manifest says.

Whether they have the usual form, in which nothing can differ from the format, is checked at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Protocol

from msgspec import Struct
from msgspec.json import Decoder
from pydantic import TypeAdapter

from lineage_ingest.dbt.artifacts.json_parts import Part, value_of
from lineage_ingest.dbt.artifacts.manifest_nodes import DescribedColumn

__all__ = ["ColumnOutline", "UnreadColumns", "columns_in", "outlines_of"]


class ColumnOutline(Protocol):
    """What a description says of a column's place in the schema."""

    @property
    def name(self) -> str:
        """The name, as written."""

    @property
    def quote(self) -> bool | None:
        """Whether the name is quoted in SQL."""

    @property
    def data_type(self) -> str | None:
        """The type, as written."""


class UnreadColumns(Mapping[str, DescribedColumn]):
    """The columns in a text, by the names that the manifest lists them by."""

    def __init__(self, text: bytes, outlines: Mapping[str, ColumnOutline]) -> None:
        self._text = text
        self._outlines = outlines
        self._columns: dict[str, DescribedColumn] = {}

    @property
    def outlines(self) -> Collection[ColumnOutline]:
        """What is known of them without reading the text."""
        return self._outlines.values()

    def __getitem__(self, name: str) -> DescribedColumn:
        if self._text:
            self._columns = _COLUMNS.validate_json(self._text)
            self._text, self._outlines = b"", self._columns
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._outlines)

    def __len__(self) -> int:
        return len(self._outlines)


def columns_in(part: Part) -> Any:
    """Return the columns in a text, or its value if that has an unusual form.

    Raises:
        ValueError: the text is damaged.
    """
    try:
        found = _USUAL.decode(part)
    except ValueError:
        return value_of(part)
    return UnreadColumns(bytes(part), found)


def outlines_of(columns: Mapping[str, DescribedColumn]) -> Collection[ColumnOutline]:
    """Return what descriptions say of the columns' place in the schema, in order."""
    return columns.outlines if isinstance(columns, UnreadColumns) else columns.values()


class _UsualConstraint(Struct, gc=False):
    type: str
    columns: str | list[str] | None = None
    expression: str | None = None


class _UsualLabels(Struct, gc=False):
    tags: str | list[str] | None = None


class _UsualColumn(Struct, gc=False):
    name: str
    data_type: str | None = None
    quote: bool | None = None
    description: str | None = None
    tags: str | list[str] | None = None
    constraints: list[_UsualConstraint] | None = None
    config: _UsualLabels | None = None


_USUAL = Decoder(dict[str, _UsualColumn])
_COLUMNS = TypeAdapter(dict[str, DescribedColumn])
