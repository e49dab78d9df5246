"""What templates are answered without a database: the names of types, and the macros of packages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["NEEDING_DATABASE", "PARENT_ADAPTERS", "ColumnTypes", "TemplatePackage"]

PARENT_ADAPTERS = {"redshift": "postgres", "materialize": "postgres", "databricks": "spark", "fabric": "sqlserver"}
"""Adapters that use the macros of another: https://docs.getdbt.com/reference/dbt-jinja-functions/dispatch."""

NEEDING_DATABASE = frozenset(("statement", "noop_statement", "run_query", "load_result"))
"""Macros of dbt that run SQL."""

_BIGQUERY = {"FLOAT": "FLOAT64", "INTEGER": "INT64", "STRING": "STRING"}
_SPARK = {"STRING": "STRING", "INTEGER": "INT"}
_LABELS = {"bigquery": _BIGQUERY, "spark": _SPARK, "databricks": _SPARK}


class ColumnTypes:
    """`api.Column` in a template: https://docs.getdbt.com/reference/dbt-classes#column."""

    def __init__(self, adapter: str) -> None:
        """Name the types of an adapter's database."""
        self._labels = _LABELS.get(adapter, {"STRING": "TEXT", "INTEGER": "INT"})

    def translate_type(self, name: str) -> str:
        """Return the type that the database has for one of dbt's."""
        return self._labels.get(name.upper(), name.upper())

    def numeric_type(self, name: str, precision: object, scale: object) -> str:
        """Return a type with its precision."""
        return f"{name}({precision},{scale})"

    def string_type(self, size: object) -> str:
        """Return the type of a text."""
        return f"character varying({size})"


class TemplatePackage:
    """The macros of a package in a template, as in `{{ dbt_utils.star(…) }}`."""

    def __init__(self, macros: Mapping[str, Any], unknown: Callable[[str], Any]) -> None:
        """Create it; `unknown` makes a placeholder of a name."""
        self._macros = macros
        self._unknown = unknown

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in ("unsafe_callable", "alters_data"):  # what the sandbox asks
            raise AttributeError(name)
        return self._macros.get(name) or self._unknown(name)
