"""What the facets columnLineage and lineage say of one output, as edges and datasets that it is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lineage.export.openlineage import ROWS_DECIDED_BY
from lineage.model.batch import EdgeRecord
from lineage.model.transformations import EdgeKind, Subtype
from lineage_ingest.openlineage.dataset_ids import DatasetId

__all__ = ["OutputLineage", "column_lineage", "deciding_rows", "explicit_lineage"]

Locate = Callable[[str, str], DatasetId]
"""RunState namespace and name as an event writes them, answers the dataset."""

_FIELD_DEFAULT, _ROWS_DEFAULT = Subtype.CONDITIONAL, Subtype.FILTER
"""What an INDIRECT transformation is taken for whose subtype is not said, or is none that is known."""

_OLD_TYPES = {"IDENTITY": (Subtype.IDENTITY, False), "MASKED": (Subtype.TRANSFORMATION, True)}
"""`transformationType` of the facet's first version, which was said of an output's column as a whole."""

_ORDER = tuple(Subtype)


@dataclass(slots=True)
class _Said:
    subtypes: set[Subtype] = field(default_factory=set)
    maskings: list[bool] = field(default_factory=list)
    marks: set[str] = field(default_factory=set)


@dataclass(slots=True)
class OutputLineage:
    """The edges into one output and what it is made of, as they are gathered.

    `sources` are all datasets that are named; `is_told` whether any facet spoke of the output, and `is_complete`
    whether one named all that it is made of.
    """

    output: DatasetId
    sources: dict[str, DatasetId] = field(default_factory=dict)
    is_told: bool = False
    is_complete: bool = False
    _said: dict[tuple[str, str, EdgeKind], _Said] = field(default_factory=dict)

    def say(
        self, source: DatasetId, column: str, target: str, transformations: Iterable[tuple[Subtype, bool, str]]
    ) -> None:
        """Take in that a source's column flows into, or influences, a node of the output (by key)."""
        self.sources.setdefault(source.key, source)
        self._say(source.column(column), target, transformations)

    def say_rows(self, source: DatasetId, target: str, transformations: Iterable[tuple[Subtype, bool, str]]) -> None:
        """Take in that which rows a source has decides those of the output, or one of its columns (by key)."""
        self.sources.setdefault(source.key, source)
        if source.key != self.output.key:
            self._say(source.key, target, transformations)

    def read_rows(self, inputs: Iterable[DatasetId]) -> None:
        """Take in that the output is computed from the rows of these datasets: the facet names columns only."""
        for source in inputs:
            self.say_rows(source, self.output.key, [(Subtype.ROWS, False, "")])

    def _say(self, source: str, target: str, transformations: Iterable[tuple[Subtype, bool, str]]) -> None:
        to_rows = target == self.output.key
        for subtype, masking, mark in transformations:
            # A value flows into columns only. Spark's agent says so of the column of a HAVING: it decides on rows.
            way = _ROWS_DEFAULT if to_rows and subtype.kind is EdgeKind.CONTRIBUTES else subtype
            said = self._said.setdefault((source, target, way.kind), _Said())
            said.subtypes.add(way)
            said.maskings.append(masking)
            said.marks.update(mark.split(", "))

    def edges(self, job: str) -> list[EdgeRecord]:
        """Return what was said, as the edges of a job."""
        return [
            EdgeRecord(
                source=source,
                target=target,
                kind=kind,
                job=job,
                output=self.output.key,
                subtypes=tuple(sorted(said.subtypes, key=_ORDER.index)),
                masking=all(said.maskings),
                limited="limited" in said.marks,
                ambiguous="ambiguous" in said.marks,
            )
            for (source, target, kind), said in sorted(self._said.items())
        ]


def column_lineage(facet: Mapping[str, Any], into: OutputLineage, locate: Locate) -> None:
    """Take in a columnLineage facet of an output."""
    if not facet:
        return
    into.is_told = True
    for name, column in facet["fields"].items():
        target = into.output.column(name)
        for source in column["inputFields"]:
            state = _transformations(source, _FIELD_DEFAULT) or [_old(column)]
            into.say(locate(source["namespace"], source["name"]), source["field"], target, state)
    for source in facet.get("dataset") or ():
        state = _transformations(source, _ROWS_DEFAULT) or [(_ROWS_DEFAULT, False, "")]
        into.say(locate(source["namespace"], source["name"]), source["field"], into.output.key, state)


def deciding_rows(facet: Mapping[str, Any], into: OutputLineage, locate: Locate) -> None:
    """Take in what our own facet of an output says of the datasets whose rows decide its rows."""
    for source in facet.get(ROWS_DECIDED_BY) or ():
        target = into.output.column(source["field"]) if "field" in source else into.output.key
        into.say_rows(locate(source["namespace"], source["name"]), target, _transformations(source, Subtype.ROWS))


def explicit_lineage(entry: Mapping[str, Any], into: OutputLineage, locate: Locate) -> None:
    """Take in a lineage facet of an output, or an entry of a job's that is about the output.

    It names all that the output is made of. Jobs that feed it have no columns: nothing is said of them here.
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


def _old(column: Mapping[str, Any]) -> tuple[Subtype, bool, str]:
    """Return what an input without transformations is: as the column says in the old way, else some way or other."""
    kind = str(column.get("transformationType") or "").upper()
    subtype, masking = _OLD_TYPES.get(kind, (Subtype.TRANSFORMATION, False))
    if kind in Subtype.__members__ and Subtype(kind).kind is EdgeKind.CONTRIBUTES:
        subtype = Subtype(kind)
    return subtype, masking, ""
