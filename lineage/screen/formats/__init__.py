"""How answers are printed: one module for each format, which `OutputFormat` names and `_WRITERS` lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from lineage.screen.formats import csv_rows, json_document, text_table
from lineage.screen.formats.answer_listing import Listing
from lineage.screen.layout import Look

__all__ = ["OutputFormat", "print_figures", "print_listing", "print_object"]


class OutputFormat(StrEnum):
    """Output formats."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"

    @property
    def is_for_people(self) -> bool:
        """Whether people read it: long lists are cut, and sentences stand around them. Programs get every row."""
        return self is OutputFormat.TABLE


_WRITERS: dict[OutputFormat, Callable[[Listing], None]] = {
    OutputFormat.TABLE: text_table.write,
    OutputFormat.JSON: json_document.write,
    OutputFormat.CSV: csv_rows.write,
}


def print_listing(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    output: OutputFormat,
    look: Look | None = None,
    *,
    values: Callable[[], Any] | None = None,
    people: Callable[[], None] | None = None,
    empty: str = "",
) -> None:
    """Print an answer in a format.

    Args:
        columns: the names of the columns.
        rows: their values; only read by formats that show rows.
        output: the format.
        look: how people see the columns; default: plainly.
        values: returns what JSON shows, where that is not an object for each row.
        people: prints what people read, where that is not the rows alone.
        empty: what people read instead, where there is no row.
    """
    _WRITERS[output](Listing(columns, rows, look or Look(), values, people, empty))


def print_figures(
    figures: Mapping[str, Any],
    output: OutputFormat,
    *,
    people: Callable[[], None],
    named: Mapping[str, Any] | None = None,
    more: Mapping[str, Any] | None = None,
) -> None:
    """Print figures as one row; JSON has them between what they are of (`named`) and `more`, people their own text."""
    values = {**(named or {}), **figures, **(more or {})}
    print_listing(tuple(figures), [tuple(figures.values())], output, values=lambda: values, people=people)


def print_object(value: Any) -> None:
    """Print a value as JSON."""
    json_document.write(Listing((), (), Look(), lambda: value))
