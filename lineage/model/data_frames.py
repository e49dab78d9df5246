"""Rows as a table of Arrow or a data frame of pandas, which are imported when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow

__all__ = ["WithRows"]


class WithRows:
    """What has rows of plain values, all with the same columns."""

    __slots__ = ()

    _columns: Mapping[str, str] = {}
    """The columns, each with the name of its Arrow type: they are there even if there is no row."""

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield one row for each edge or column."""
        raise NotImplementedError

    def to_arrow(self) -> pyarrow.Table:
        """Return the rows as a table of Arrow."""
        import pyarrow as pa  # noqa: PLC0415  most callers need none

        schema = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in self._columns.items()])
        return pa.Table.from_pylist([dict(row) for row in self.rows()], schema=schema)

    def to_pandas(self) -> Any:
        """Return the rows as a data frame of pandas.

        Raises:
            ImportError: pandas is not installed: `pip install pandas`.
        """
        return self.to_arrow().to_pandas()
