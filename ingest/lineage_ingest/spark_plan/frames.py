"""Frames whose plan was cut: by a checkpoint, or as a stream's batch."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic
from lineage_ingest.spark_plan.tables.datasets import Dataset
from lineage_ingest.spark_plan.traced_values import PlanRelation, Sources, Value

__all__ = ["CutFrame", "KnownFrames"]


@frozen
class CutFrame:
    """The columns of a frame, what decides its rows, and the datasets that they come from."""

    values: dict[int, Value]
    rows: Sources
    datasets: Mapping[str, Dataset]
    diagnostics: tuple[Diagnostic, ...] = ()
    """What could not be known of the plan that was cut."""


class KnownFrames:
    """The frames of a session. Memory is bounded: the ones that were not used for longest go first."""

    def __init__(self, max_columns: int = 50_000) -> None:
        self._max_columns = max_columns
        self._count = 0
        self._by_id: OrderedDict[int, CutFrame] = OrderedDict()
        self._by_rdd: OrderedDict[int, tuple[int, ...]] = OrderedDict()
        self.has_collected = False
        """Whether a dataset's rows, or a figure of them, were given to the program."""

    def add(
        self, relation: PlanRelation, datasets: Mapping[str, Dataset], diagnostics: Iterable[Diagnostic] = ()
    ) -> None:
        """Keep the columns of a relation."""
        values = dict(zip(relation.output, relation.columns(), strict=True))
        frame = CutFrame(values, relation.rows.flat(), dict(datasets), tuple(diagnostics))
        for key in values:
            self._by_id[key] = frame
            self._by_id.move_to_end(key)
        while len(self._by_id) > self._max_columns:
            self._by_id.popitem(last=False)

    def note_rdd(self, rdd: int, output: Sequence[int]) -> None:
        """Keep which attributes a frame's rows have: a join of the frame with itself gives them new ones."""
        if any(key in self._by_id for key in output):
            self._by_rdd[rdd] = tuple(output)
            self._by_rdd.move_to_end(rdd)
        while len(self._by_rdd) > self._max_columns:
            self._by_rdd.popitem(last=False)

    def find_rdd(self, rdd: int, output: Sequence[int]) -> CutFrame | None:
        """Return the columns of the frame with these rows, as these attributes."""
        before = self._by_rdd.get(rdd, ())
        frame = self.find(before) if len(before) == len(output) else None
        if frame is None:
            return None
        values = {new: frame.values[old] for old, new in zip(before, output, strict=True) if old in frame.values}
        return CutFrame(values, frame.rows, frame.datasets, frame.diagnostics)

    def find(self, output: Sequence[int]) -> CutFrame | None:
        """Return the columns of a frame with these attributes, if it has any of them; frames may be of several."""
        met = list({id(frame): frame for key in output if (frame := self._by_id.get(key)) is not None}.values())
        if not met:
            return None
        for key in output:
            if key in self._by_id:
                self._by_id.move_to_end(key)
        rows: Sources = {}
        datasets: dict[str, Dataset] = {}
        diagnostics: dict[Diagnostic, None] = {}
        for frame in met:
            rows.update(frame.rows)
            datasets.update(frame.datasets)
            diagnostics.update(dict.fromkeys(frame.diagnostics))
        values = {key: frame.values[key] for key in output if (frame := self._by_id.get(key)) is not None}
        return CutFrame(values, rows, datasets, tuple(diagnostics))
