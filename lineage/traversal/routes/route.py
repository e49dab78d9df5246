"""A path through the graph: its steps in the direction in which data flows."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from lineage.frozen import frozen
from lineage.model.influence.edge_effects import masked_subtypes_of
from lineage.model.influence.evidence import Chain
from lineage.model.influence.transformations import (
    CONTRIBUTION_ORDER,
    EdgeKind,
    StepEffect,
    Subtype,
    compose_path,
    strongest,
)

__all__ = ["PathStep", "Route"]

_ORDER = {subtype: index for index, subtype in enumerate(Subtype)}


@frozen(slots=False)
class PathStep:
    """One step of a path; `job` is one of the jobs with this edge, one that does not mask if there is any.

    `target` is a dataset if the source determines its rows. `masking` is true only if every job with this edge masks
    the value; `partly_masking` are the subtypes that the job masks, if it does not mask others. `spans` are the proofs
    in the job's SQL.
    """

    source: str
    target: str
    kind: EdgeKind
    subtypes: tuple[Subtype, ...]
    masking: bool
    job: str
    spans: tuple[Chain, ...] = ()
    partly_masking: tuple[Subtype, ...] = ()

    @cached_property
    def step(self) -> StepEffect:
        """The effect for composition: the strongest contribution, or the first influence; an unmasked one if any is."""
        subtypes = [subtype for subtype in self.subtypes if subtype not in self.partly_masking]
        contributing = [subtype for subtype in subtypes if subtype in CONTRIBUTION_ORDER]
        if contributing:
            return StepEffect(strongest(contributing), self.masking)
        return StepEffect(min(subtypes, key=_ORDER.__getitem__), self.masking)

    def to_dict(self) -> dict[str, Any]:
        """Return the step as JSON values."""
        return {
            "source": self.source,
            "target": self.target,
            "kind": str(self.kind),
            "subtypes": [str(subtype) for subtype in self.subtypes],
            "masking": self.masking,
            "masked_subtypes": [str(subtype) for subtype in masked_subtypes_of(self)],
            "job": self.job,
            "spans": [list(span) for span in self.spans],
        }


@frozen(slots=False)
class Route:
    """A path of at least one step, from the sources to the consumers."""

    steps: tuple[PathStep, ...]

    @property
    def hops(self) -> int:
        """Number of edges."""
        return len(self.steps)

    @property
    def references(self) -> int:
        """Number of edges that are references."""
        return sum(step.kind is EdgeKind.REFERENCES for step in self.steps)

    @cached_property
    def transformation(self) -> StepEffect:
        """The composition of its steps by OpenLineage's rules."""
        return compose_path(step.step for step in self.steps)

    def to_dict(self) -> dict[str, Any]:
        """Return the route as JSON values."""
        transformation = self.transformation
        return {
            "hops": self.hops,
            "references": self.references,
            "transformation": str(transformation.subtype),
            "masking": transformation.masking,
            "steps": [step.to_dict() for step in self.steps],
        }
