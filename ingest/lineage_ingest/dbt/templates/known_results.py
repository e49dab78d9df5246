"""What templates are answered without a database: names of types, quoted names, patterns, the macros of packages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from hashlib import md5
from typing import Any

__all__ = [
    "CONTEXT_FUNCTIONS",
    "NEEDING_DATABASE",
    "PARENT_ADAPTERS",
    "PATTERNS",
    "REFUSALS",
    "ColumnTypes",
    "RunValue",
    "TemplatePackage",
    "quoted_by",
]

PARENT_ADAPTERS = {"redshift": "postgres", "materialize": "postgres", "databricks": "spark", "fabric": "sqlserver"}
"""Adapters that use the macros of another: https://docs.getdbt.com/reference/dbt-jinja-functions/dispatch."""

NEEDING_DATABASE = frozenset(("statement", "noop_statement", "run_query", "load_result"))
"""Macros of dbt that run SQL."""

PATTERNS = {one.__name__: one for one in (re.sub, re.match, re.search, re.fullmatch, re.findall, re.split, re.escape)}
"""`modules.re` in a template; the module itself would lead out of the sandbox."""


def _unique(values: Iterable[Any], default: Any = None) -> Any:
    try:
        return list(dict.fromkeys(values))  # in one order, as a set is not
    except TypeError:
        return default


CONTEXT_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "set": _unique,
    "set_strict": _unique,
    "zip": lambda *values: list(zip(*values, strict=False)),
    "zip_strict": lambda *values: list(zip(*values, strict=False)),
    "fromjson": json.loads,
    "tojson": lambda value, default=None, sort_keys=False: json.dumps(value, default=str, sort_keys=sort_keys),  # noqa: ARG005
    "local_md5": lambda value: md5(str(value).encode(), usedforsecurity=False).hexdigest(),
}
"""Functions of dbt's templates that need no database: https://docs.getdbt.com/reference/dbt-jinja-functions."""


def _refuse(*_: Any) -> str:
    raise ValueError("the template refuses")


REFUSALS = {"raise_compiler_error": _refuse, "raise_not_implemented": _refuse, "warn": lambda *_: ""}
"""`exceptions` in a template: https://docs.getdbt.com/reference/dbt-jinja-functions/exceptions."""

_BIGQUERY = {"FLOAT": "FLOAT64", "INTEGER": "INT64", "STRING": "STRING"}
_SPARK = {"STRING": "STRING", "INTEGER": "INT"}
_LABELS = {"bigquery": _BIGQUERY, "spark": _SPARK, "databricks": _SPARK}


def quoted_by(adapter: str) -> Callable[[object], str]:
    """Return `adapter.quote` of an adapter.

    >>> quoted_by("bigquery")("a"), quoted_by("postgres")("a")
    ('`a`', '"a"')
    """
    mark = "`" if adapter in ("bigquery", "spark", "databricks") else '"'
    return lambda name: f"{mark}{name}{mark}"


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


class RunValue(str):
    """A value that each run of dbt has anew, as in a literal: whatever is made of it is the same mark."""

    MARK = "dbt_run_value"

    def __new__(cls) -> RunValue:
        """Return the value."""
        return super().__new__(cls, cls.MARK)

    def strftime(self, _format: str) -> RunValue:
        """Return it as a text."""
        return self

    def isoformat(self, *_: str) -> RunValue:
        """Return it as a text."""
        return self

    def astimezone(self, _zone: object = None) -> RunValue:
        """Return it for another time zone."""
        return self
