"""What tells a call of a macro that is not expanded from others: its arguments, and the texts of the macros behind it.

Two revisions of a template are compared by them: `{{ dbt_utils.star(…1f09c3aa) }}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any

from lineage_ingest.dbt.templates.macro_calls import macros_below
from lineage_ingest.dbt.templates.template_parts import without_comments

__all__ = ["CallMarks", "without_marks"]

_MARK = re.compile(r"…[0-9a-fA-F]{8}\b")


def without_marks(text: str) -> str:
    """Return a text for people.

    >>> without_marks("`star(…1f09c3aa)` is not expanded")
    '`star(…)` is not expanded'
    """
    return _MARK.sub("…", text)


class CallMarks:
    """Marks of calls, for the macros of one manifest; the texts of the packages in `left_out` do not count."""

    def __init__(self, macros: Mapping[str, Any], project: str, left_out: frozenset[str]) -> None:
        self._macros = macros
        self._project = project
        self._left_out = left_out
        self._texts: dict[str, list[str]] = {}

    def __call__(self, name: str, values: Sequence[Any], named: Mapping[str, Any]) -> str:
        """Return the mark of a call."""
        if name not in self._texts:
            below = macros_below(self._ids.get(name, ()), self._macros, self._left_out)
            self._texts[name] = sorted(without_comments(str(one.get("macro_sql", ""))) for one in below)
        try:
            given = json.dumps([values, named], sort_keys=True, default=str)
        except (TypeError, ValueError):  # keys of several types, or a list in itself
            given = repr((len(values), sorted(named)))
        return blake2b(json.dumps([given, self._texts[name]]).encode(), digest_size=4).hexdigest()

    @cached_property
    def _ids(self) -> dict[str, list[str]]:
        """The unique ids of macros, by the names that templates call them by."""
        found: dict[str, list[str]] = {}
        for key, macro in self._macros.items():
            if isinstance(macro, Mapping):
                name, package = str(macro.get("name")), str(macro.get("package_name"))
                shown = name if package == self._project else f"{package}.{name}"
                found.setdefault(shown, []).append(key)
        return found
