"""Breakers: functions, jobs, columns and edges that a person marks as anonymising, in a YAML file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, model_validator

from lineage.frozen import frozen
from lineage.governance.exposure import Exposure
from lineage.governance.propagation import ValueGraph, ValueStep
from lineage.governance.yaml_files import GovernanceFileError, read_yaml
from lineage.model.influence.evidence import spans_of
from lineage.model.text.expression_text import calls_around
from lineage.store.protocol import GraphStore
from lineage.traversal import NameLookupError, resolve_column

__all__ = ["Breaker", "Breakers", "read_breakers"]


class Breaker(BaseModel):
    """One thing behind which a value is anonymous: who says so, why, and since when.

    One of: `function` (a name), `job` (a key), `column` (what flows into it), `edge` (`[from, to]`).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    function: str | None = None
    job: str | None = None
    column: str | None = None
    edge: tuple[str, str] | None = None
    why: str = Field(min_length=1)
    at: date
    by: str = ""

    @model_validator(mode="after")
    def _one_thing(self) -> Breaker:
        if sum(one is not None for one in (self.function, self.job, self.column, self.edge)) != 1:
            raise ValueError("one of function, job, column and edge")
        return self

    @property
    def text(self) -> str:
        """What it says, in words."""
        things = {"function": self.function, "job": self.job, "column": self.column}
        what = next((f"{kind} {name}" for kind, name in things.items() if name is not None), None)
        if what is None and self.edge is not None:
            what = f"edge {self.edge[0]} → {self.edge[1]}"
        return f"{what}: {self.why} ({f'{self.by}, ' if self.by else ''}{self.at})"


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    breakers: tuple[Breaker, ...] = Field(min_length=1)


@frozen
class Breakers:
    """The breakers of a file, with the keys of their columns; those that were not found are named."""

    functions: frozenset[str]
    jobs: frozenset[str]
    columns: frozenset[str]
    edges: frozenset[tuple[str, str]]
    texts: tuple[str, ...]
    unknown: tuple[str, ...]

    def apply(self, graph: ValueGraph) -> ValueGraph:
        """Return the graph with the steps masked that a breaker is about."""
        steps = {via: sorted(self._masked(one, graph) for one in listed) for via, listed in graph.steps.items()}
        return replace(graph, steps=steps)

    def _masked(self, step: ValueStep, graph: ValueGraph) -> ValueStep:
        is_broken = (
            step.job in self.jobs
            or step.target in self.columns
            or (step.source, step.target) in self.edges
            or self._calls(step, graph)
        )
        return replace(step, exposure=Exposure.MASKED) if is_broken else step

    def _calls(self, step: ValueStep, graph: ValueGraph) -> bool:
        """Return whether one of the functions is around each place that reads the value."""
        job = graph.jobs.get(step.job)
        if not self.functions or job is None or not job.sql or not step.spans:
            return False
        sql = job.sql
        return all(
            any(
                not self.functions.isdisjoint({name, name.rpartition(".")[2]})
                for start, _ in spans_of(chain)
                for name in calls_around(sql, start)
            )
            for chain in step.spans
        )


def read_breakers(path: Path, store: GraphStore) -> Breakers:
    """Return the breakers of a file.

    Raises:
        GovernanceFileError: the file cannot be read, or is wrong; the message has line and column.
        StoreError: the store could not be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise GovernanceFileError(str(path), 1, 1, f"cannot be read: {error}") from error
    listed = read_yaml(path, text, _File).breakers
    unknown: list[str] = []
    jobs = {one.job for one in listed if one.job is not None}
    unknown += sorted(jobs - {one.key for one in store.jobs(sorted(jobs))})
    columns = _keys(store, (one.column for one in listed if one.column is not None), unknown)
    ends = _keys(store, (name for one in listed for name in one.edge or ()), unknown)
    edges = {(ends[one.edge[0]], ends[one.edge[1]]) for one in listed if one.edge and set(one.edge) <= ends.keys()}
    functions = {one.function.lower().replace("_", "") for one in listed if one.function is not None}
    texts = tuple(one.text for one in listed)
    return Breakers(
        frozenset(functions), frozenset(jobs), frozenset(columns.values()), frozenset(edges), texts, tuple(unknown)
    )


def _keys(store: GraphStore, names: Iterable[str], unknown: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in names:
        try:
            found[name] = resolve_column(store, name).key
        except NameLookupError:
            unknown.append(name)
    return found
