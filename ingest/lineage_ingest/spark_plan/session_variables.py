"""Session variables, those of SQL scripts too: what DECLARE, SET and FOR give them."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from typing import TypeVar

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage_ingest.spark_plan.frames import CutFrame

__all__ = ["SessionVariables", "has_parameters"]

_Kept = TypeVar("_Kept")
_MAX_VARIABLES = 10_000
_MAX_RECENT = 100
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|--[^\n]*|/\*.*?\*/", re.DOTALL)
_PARAMETER = re.compile(r"\?|(?<![:\w\])]):[A-Za-z_]")
_UNKNOWN = CutFrame(
    {},
    {},
    {},
    (
        Diagnostic(
            DiagnosticCode.UNKNOWN_COLUMN,
            Severity.WARNING,
            "it is not known what a session variable was set to: its sources are missing",
            hint="enable lineage before the job sets its variables",
        ),
    ),
)


class SessionVariables:
    """What the variables of a session come from. Memory is bounded: the ones set longest ago go first."""

    def __init__(self) -> None:
        self._values: OrderedDict[str, CutFrame] = OrderedDict()
        self._started: Mapping[str, CutFrame] | None = None
        self._recent: list[Mapping[str, CutFrame]] = []
        self._script: str | None = None
        self._loops: OrderedDict[str, Mapping[str, CutFrame]] = OrderedDict()

    @property
    def have_sources(self) -> bool:
        """Whether a variable was set to what a dataset holds."""
        return any(frame.datasets for frame in self._values.values())

    def set(self, name: str, frame: CutFrame) -> None:
        """Keep what a variable is set to: the only column of a frame."""
        _remember(self._values, name, frame)

    def get(self, name: str) -> CutFrame:
        """Return what a variable was set to; a frame without columns, and a diagnostic, if that was not seen."""
        return self._values.get(name, _UNKNOWN)

    # FOR gives its query's rows to the program, which sets a variable for each column of each row.

    def start_loop(self, columns: Mapping[str, CutFrame]) -> None:
        """Take note of a query whose rows may be those of a FOR, by column."""
        self._started = columns
        self._recent = [*self._recent[-_MAX_RECENT:], columns]

    def end_start(self, sql: str | None) -> None:
        """Take note of a statement that is none of FOR's own; `sql` is the text of its whole script."""
        self._started = None
        if sql != self._script:
            self._script = sql
            self._recent = self._recent[-1:]

    def set_of_row(self, name: str) -> None:
        """Set a variable, `label.column`, to a row of its loop."""
        label, _, column = name.rpartition(".")
        if self._started is not None and column in self._started:
            _remember(self._loops, label, self._started)
        elif label not in self._loops:  # Spark gives each row of a loop without a name a label of its own
            having = [columns for columns in self._recent if column in columns]
            _remember(self._loops, label, having[0] if len(having) == 1 else {})
        self.set(name, self._loops[label].get(column, _UNKNOWN))


def has_parameters(sql: str) -> bool:
    """Return whether a statement has parameters, to which EXECUTE IMMEDIATE may give variables.

    >>> has_parameters("select ? from t"), has_parameters("select ':a?' from t"), has_parameters("select :a from t")
    (True, False, True)
    """
    return _PARAMETER.search(_QUOTED.sub(" ", sql)) is not None


def _remember(known: OrderedDict[str, _Kept], name: str, value: _Kept) -> None:
    known[name] = value
    known.move_to_end(name)
    while len(known) > _MAX_VARIABLES:
        known.popitem(last=False)
