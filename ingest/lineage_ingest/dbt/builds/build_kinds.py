"""Which build of a model a template may ask for: one that finds no table, a later one, or a full refresh.

Besides `is_incremental()`, templates ask whether the model's table is there, and for dbt's option `--full-refresh`:
https://docs.getdbt.com/reference/dbt-jinja-functions/adapter#get_relation
https://docs.getdbt.com/reference/dbt-jinja-functions/flags
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from lineage.frozen import frozen

__all__ = ["BUILD_KINDS", "LATER_BUILD", "BuildKind", "TemplateAdapter", "TemplateFlags", "asks_for_build"]

_NOTE = re.compile(r"\{#.*?#\}", re.DOTALL)
_BLOCK = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_ASKS = re.compile(
    r"\bflags\s*\.\s*FULL_REFRESH\b|\bshould_full_refresh\s*\(|\bload_(?:cached_)?relation\s*\(\s*this\b"
    r"|\bget_relation\s*\([^)]*\bthis\b"
)


@frozen
class BuildKind:
    """A build: whether it finds the model's table, and whether it makes it anew."""

    has_table: bool
    is_refresh: bool


LATER_BUILD = BuildKind(has_table=True, is_refresh=False)
BUILD_KINDS = (BuildKind(has_table=False, is_refresh=False), LATER_BUILD, BuildKind(has_table=True, is_refresh=True))


def asks_for_build(template: str) -> bool:
    """Return whether a template asks for the model's table or for a full refresh.

    >>> asks_for_build("{% if flags.FULL_REFRESH %} a {% endif %}"), asks_for_build("{# load_relation(this) #} b")
    (True, False)
    """
    return any(_ASKS.search(block) for block in _BLOCK.findall(_NOTE.sub("", template)))


class TemplateFlags:
    """`flags` in a template: `FULL_REFRESH` may be known; `WHICH` is the command that builds the tables."""

    def __init__(self, is_refresh: Callable[[], bool | None], unknown: Callable[[str], Any]) -> None:
        """Create it; `is_refresh` returns None where that is not known, `unknown` makes a placeholder of a name."""
        self._is_refresh = is_refresh
        self._unknown = unknown

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in ("unsafe_callable", "alters_data"):  # what the sandbox asks
            raise AttributeError(name)
        known = self._is_refresh() if name == "FULL_REFRESH" else "run" if name == "WHICH" else None
        return self._unknown(f"flags.{name}") if known is None else known


class TemplateAdapter:
    """`adapter` in a template: it chooses macros, and knows some of the database."""

    def __init__(self, known: Mapping[str, Callable[..., Any]], unknown: Callable[[str], Any]) -> None:
        """Create it of the functions that are known; `unknown` makes a placeholder of a name."""
        self.__dict__.update(known)
        self._unknown = unknown

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in ("unsafe_callable", "alters_data"):  # what the sandbox asks
            raise AttributeError(name)
        return self._unknown(f"adapter.{name}")
