"""Who ran the statements of a procedure, and when: those who called it, not the one who created it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from lineage.model.diagnostics import Diagnostic
from lineage_ingest.query_log.pipeline.merging.statistics import JobRuns
from lineage_ingest.query_log.pipeline.unit_summaries import UnitSummary

__all__ = ["ProcedureRuns"]

_Part: TypeAlias = tuple[int, int]
_Keys: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]


class _DefinedProcedure(NamedTuple):
    name: str
    first: int
    part: _Part


class ProcedureRuns:
    """The runs of procedures by their calls in a log."""

    def __init__(
        self, summaries: Iterable[UnitSummary], runs: Mapping[int, Mapping[int, JobRuns]], ran: Collection[str]
    ) -> None:
        """Take the units, the runs of their parts, and the fingerprints of all statements that the log shows by itself.

        A log that also has the statements that calls run (Snowflake's) counts those.
        """
        self._runs = runs
        self._defined: dict[tuple[str, str], list[_DefinedProcedure]] = defaultdict(list)
        self._routines: dict[_Part, bool] = {}
        """By part that creates a routine: whether the log has the statements of its runs, too."""
        self._called: dict[_Part, list[tuple[str, str]]] = defaultdict(list)
        for summary in summaries:
            for routine in summary.routines:
                part = summary.key, routine.part
                self._routines[part] = any(one in ran for one in routine.statements)
                own = runs.get(summary.key, {}).get(routine.part)
                if own is not None and own.runs:
                    for name in routine.procedures:
                        definition = _DefinedProcedure(name, own.first or 0, part)
                        self._defined[summary.namespace, _last(name)].append(definition)
            for call in summary.calls:
                self._called[summary.key, call.part].append((summary.namespace, call.procedure))
        self._counted: dict[_Part, JobRuns] = {}
        for part in self._routines:
            if (own := runs.get(part[0], {}).get(part[1])) is not None:
                self._counted[part] = JobRuns(first=own.first, last=own.last)
        for caller in self._callers():
            for part in self._run_by(caller):
                self._counted[part].add(runs[caller[0]][caller[1]])

    def counted(self, unit: int) -> Mapping[int, JobRuns]:
        """Return the runs of the jobs of each part of a unit."""
        own = self._runs[unit]
        return {number: self._counted.get((unit, number), one) for number, one in own.items()}

    def used(self, uses: Mapping[_Part, _Keys]) -> dict[_Part, _Keys]:
        """Return what each part reads and writes when it runs."""
        found = {part: keys for part, keys in uses.items() if part not in self._routines}
        for caller in self._callers():
            listed = [uses.get(part, ((), ())) for part in (caller, *self._run_by(caller))]
            read, written = (tuple(dict.fromkeys(key for keys in listed for key in keys[side])) for side in (0, 1))
            found[caller] = read, written
        return found

    def unknown(self, summary: UnitSummary) -> dict[int, Diagnostic]:
        """Return a diagnostic for each statement of a unit that calls a procedure that the log does not define."""
        return {
            call.statement: call.if_unknown
            for call in summary.calls
            if not self._definitions(summary.namespace, call.procedure)
        }

    def _callers(self) -> Iterator[_Part]:
        """Yield the parts that call procedures by themselves, and that ran."""
        for unit, part in self._called:
            if (unit, part) not in self._routines and part in self._runs.get(unit, {}):
                yield unit, part

    def _run_by(self, caller: _Part) -> list[_Part]:
        """Return the parts whose statements the calls of a part run, through the calls in procedures, too."""
        at = self._runs[caller[0]][caller[1]].last
        run_parts: dict[_Part, None] = {}
        waiting = list(self._called[caller])
        while waiting:
            definitions = self._definitions(*waiting.pop())
            before = [one for one in definitions if at is None or one.first <= at]
            if not definitions:
                continue
            part = max(before, key=lambda one: one.first).part if before else min(definitions).part
            if part not in run_parts:
                run_parts[part] = None
                waiting += self._called.get(part, ())
        return [part for part in run_parts if not self._routines[part]]

    def _definitions(self, namespace: str, name: str) -> list[_DefinedProcedure]:
        """Return the definitions that a name refers to; one without a schema is that of the only schema that has it."""
        named = self._defined.get((namespace, _last(name)), [])
        if exact := [one for one in named if one.name == name]:
            return exact
        similar = [one for one in named if one.name.endswith(f".{name}") or name.endswith(f".{one.name}")]
        return similar if len({one.name for one in similar}) == 1 else []


def _last(name: str) -> str:
    return name.rpartition(".")[2]
