"""Edges and sources of one output from the facets columnLineage and lineage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lineage.export.openlineage import ROWS_DECIDED_BY
from lineage.model.batch import EdgeRecord
from lineage.model.influence.edge_effects import merge_effects
from lineage.model.influence.transformations import EdgeKind, StepEffect, Subtype
from lineage_ingest.openlineage.dataset_ids import DatasetId

__all__ = ["OutputLineage", "column_lineage", "deciding_rows", "explicit_lineage"]

Locate = Callable[[str, str], DatasetId]
"""Takes a namespace and name from an event; returns the dataset."""

_FIELD_DEFAULT, _ROWS_DEFAULT = Subtype.CONDITIONAL, Subtype.FILTER
"""Subtypes of INDIRECT transformations without a known subtype."""

_OLD_TYPES = {"IDENTITY": (Subtype.IDENTITY, False), "MASKED": (Subtype.TRANSFORMATION, True)}
"""`transformationType` of the facet's first version, which applied to an output's column as a whole."""


@dataclass(slots=True)
class _EdgeFacts:
    effects: set[StepEffect] = field(default_factory=set)
    marks: set[str] = field(default_factory=set)


@dataclass(slots=True)
class OutputLineage:
    """Collects the edges into one output, and its sources.

    `sources` are all datasets named in facets; `is_told` is whether any facet describes the output, and `is_complete`
    whether one lists all its sources.
    """

    output: DatasetId
    sources: dict[str, DatasetId] = field(default_factory=dict)
    is_told: bool = False
    is_complete: bool = False
    _said: dict[tuple[str, str, EdgeKind], _EdgeFacts] = field(default_factory=dict)

    def say(
        self, source: DatasetId, column: str, target: str, transformations: Iterable[tuple[Subtype, bool, str]]
    ) -> None:
        """Add edges from a source's column to a node of the output (by key)."""
        self.sources.setdefault(source.key, source)
        self._say(source.column(column), target, transformations)

    def say_rows(self, source: DatasetId, target: str, transformations: Iterable[tuple[Subtype, bool, str]]) -> None:
        """Add edges from a source's rows to the output or one of its columns (by key)."""
        self.sources.setdefault(source.key, source)
        if source.key != self.output.key:
            self._say(source.key, target, transformations)

    def read_rows(self, inputs: Iterable[DatasetId]) -> None:
        """Add edges from the rows of these datasets, which the facet omits because it names only columns."""
        for source in inputs:
            self.say_rows(source, self.output.key, [(Subtype.ROWS, False, "")])

    def _say(self, source: str, target: str, transformations: Iterable[tuple[Subtype, bool, str]]) -> None:
        to_rows = target == self.output.key
        for subtype, masking, mark in transformations:
            # Values flow into columns only. Spark's agent reports a HAVING column as one; it decides rows.
            way = _ROWS_DEFAULT if to_rows and subtype.kind is EdgeKind.CONTRIBUTES else subtype
            said = self._said.setdefault((source, target, way.kind), _EdgeFacts())
            said.effects.add(StepEffect(way, masking))
            said.marks.update(mark.split(", "))

    def edges(self, job: str) -> list[EdgeRecord]:
        """Return the collected edges, with this job."""
        return [
            EdgeRecord(
                source=source,
                target=target,
                kind=kind,
                job=job,
                output=self.output.key,
                **merge_effects(said.effects)._asdict(),
                limited="limited" in said.marks,
                ambiguous="ambiguous" in said.marks,
            )
            for (source, target, kind), said in sorted(self._said.items())
        ]


def column_lineage(facet: Mapping[str, Any], into: OutputLineage, locate: Locate) -> None:
    """Add the edges of an output's columnLineage facet."""
    if not facet:
        return
    into.is_told = True
    for name, column in facet["fields"].items():
        target = into.output.column(name)
        for source in column["inputFields"]:
            state = _transformations(source, _FIELD_DEFAULT) or [_old_transformation(column)]
            into.say(locate(source["namespace"], source["name"]), source["field"], target, state)
    for source in facet.get("dataset") or ():
        state = _transformations(source, _ROWS_DEFAULT) or [(_ROWS_DEFAULT, False, "")]
        into.say(locate(source["namespace"], source["name"]), source["field"], into.output.key, state)


def deciding_rows(facet: Mapping[str, Any], into: OutputLineage, locate: Locate) -> None:
    """Add the datasets whose rows decide the output's rows, from this project's own facet."""
    for source in facet.get(ROWS_DECIDED_BY) or ():
        target = into.output.column(source["field"]) if "field" in source else into.output.key
        into.say_rows(locate(source["namespace"], source["name"]), target, _transformations(source, Subtype.ROWS))


def explicit_lineage(entry: Mapping[str, Any], into: OutputLineage, locate: Locate) -> None:
    """Add the edges of an output's lineage facet, or of an entry for the output in a job's.

    The facet lists all sources of the output. Sources that are jobs have no columns and are skipped.
    """
    if not entry:
        return
    into.is_told = into.is_complete = True
    for source in _of_datasets(entry.get("inputs")):
        dataset_id = locate(source["namespace"], source["name"])
        into.sources.setdefault(dataset_id.key, dataset_id)
        if source.get("field") is not None:
            state = _transformations(source, _ROWS_DEFAULT) or [(_ROWS_DEFAULT, False, "")]
            into.say(dataset_id, source["field"], into.output.key, state)
    for name, column in (entry.get("fields") or {}).items():
        for source in _of_datasets(column["inputs"]):
            dataset_id = locate(source["namespace"], source["name"])
            into.sources.setdefault(dataset_id.key, dataset_id)
            if source.get("field") is not None:
                state = _transformations(source, _FIELD_DEFAULT) or [(Subtype.TRANSFORMATION, False, "")]
                into.say(dataset_id, source["field"], into.output.column(name), state)


def _of_datasets(inputs: Iterable[Mapping[str, Any]] | None) -> Iterable[Mapping[str, Any]]:
    return (source for source in inputs or () if source["type"] == "DATASET")


def _transformations(source: Mapping[str, Any], default: Subtype) -> list[tuple[Subtype, bool, str]]:
    return [
        (_subtype(one, default), bool(one.get("masking")), str(one.get("description", "")))
        for one in source.get("transformations") or ()
    ]


def _subtype(transformation: Mapping[str, Any], default: Subtype) -> Subtype:
    is_direct = str(transformation["type"]).upper() != "INDIRECT"
    name = str(transformation.get("subtype") or "").upper().replace(" ", "_")
    known = Subtype(name) if name in Subtype.__members__ else None
    if known is not None and (known.kind is EdgeKind.CONTRIBUTES) == is_direct:
        return known
    return Subtype.TRANSFORMATION if is_direct else default


def _old_transformation(column: Mapping[str, Any]) -> tuple[Subtype, bool, str]:
    """Return the transformation of an input without any: from the column's old property, else an unspecific one."""
    kind = str(column.get("transformationType") or "").upper()
    subtype, masking = _OLD_TYPES.get(kind, (Subtype.TRANSFORMATION, False))
    if kind in Subtype.__members__ and Subtype(kind).kind is EdgeKind.CONTRIBUTES:
        subtype = Subtype(kind)
    return subtype, masking, ""
