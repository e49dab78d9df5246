"""A column's whole map for an assistant: classes, exposure, readers, and what is around it, the nearest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pydantic import BaseModel, Field

from lineage.governance.exposure import EXPOSURES
from lineage.governance.report.pii_report import Holder, SourceColumn
from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import split_column_key
from lineage.store.protocol import GraphStore
from lineage.traversal import Outline, TraversalOptions, resolve_column, root_cause
from lineage_graphql.current_pii_report import current_pii_report

__all__ = ["ColumnMap", "column_map"]

_MAX_SQL, _MAX_STEPS = 200, 3
_MAX_USERS = 10
_MAX_CHARACTERS = 75_000
"""Of the whole as JSON: 25,000 tokens of three characters, as names in it take more tokens than prose."""


class MapTag(BaseModel):
    """What is said of the column's values."""

    name: str = Field(description="The class: email, phone, ….")
    confidence: float
    source: str = Field(description="What says it: manual, csv, rules, ….")
    why: str


class MapHolder(BaseModel):
    """A column that holds values of the column."""

    name: str
    exposure: str = Field(description="unmasked, partial, aggregated or masked.")
    hops: int
    reads: int
    users: list[str] = Field(description="The most frequent readers.")
    sql: list[str] = Field(description="The expressions of the last steps of a shortest path; literals are masked.")


class MapOrigin(BaseModel):
    """A column that the values come from, or that influences them."""

    name: str
    hops: int
    flows: bool = Field(description="Whether its value flows here; otherwise it only has an influence.")
    masked: bool


class ColumnMap(BaseModel):
    """The map of a column."""

    name: str
    tags: list[MapTag]
    warehouse: list[str] = Field(description="What policies and grants of the warehouse say of the column.")
    reads: int
    users: list[str]
    downstream: list[MapHolder]
    upstream: list[MapOrigin]
    influenced: list[str] = Field(description="What its values decide about without being there.")
    stopped: list[str] = Field(description="Columns marked as no personal data.")
    possibly_in_tables: list[str] = Field(description="Tables that may hold it: their SQL is known by table only.")
    omitted: dict[str, int] = Field(description="Number of nodes that are left out, by kind.")
    unknown: list[str] = Field(description="What this answer cannot know.")


def column_map(store: GraphStore, name: str, most: int) -> ColumnMap:
    """Return the map of a column with at most `most` other nodes, the nearest first, in 25,000 tokens at most.

    Raises:
        NameLookupError: no column has that name, or several have.
        StoreError: the store could not be read.
    """
    target = resolve_column(store, name)
    report = current_pii_report(store, columns=[target.key])
    [source] = report.sources
    origins = root_cause(store, target, TraversalOptions()).outlines
    names = store.dataset_names({one.dataset for one in origins})
    unknown = [f"{one.what}: {one.why}" for one in report.blind_spots]
    while True:
        made = _map_of(source, origins, names, unknown, most)
        size = len(made.model_dump_json())
        if size <= _MAX_CHARACTERS or not most:
            return made
        most = min(most - 1, most * _MAX_CHARACTERS // size)


def _map_of(
    source: SourceColumn, origins: Sequence[Outline], names: dict[str, str], unknown: list[str], most: int
) -> ColumnMap:
    downstream = sorted(source.holders, key=lambda one: (one.hops, one.exposure.rank, one.name))
    lengths = {"downstream": len(downstream), "upstream": len(origins), "influenced": len(source.influenced)}
    sizes = _shares(lengths, most)
    shown = downstream[: sizes["downstream"]]
    return ColumnMap(
        name=source.name,
        tags=[MapTag(name=one.name, confidence=one.confidence, source=one.source, why=one.why) for one in source.tags],
        warehouse=list(source.own.protection.sentences),
        reads=source.own.usage.reads,
        users=source.own.users,
        downstream=[_holder(one) for one in shown],
        upstream=[_origin(one, names) for one in origins[: sizes["upstream"]]],
        influenced=[one.name for one in source.influenced[: sizes["influenced"]]],
        stopped=list(source.stopped[:_MAX_USERS]),
        possibly_in_tables=list(source.possibly[:_MAX_USERS]),
        omitted=_omitted(source, shown, {kind: number - sizes[kind] for kind, number in lengths.items()}),
        unknown=unknown,
    )


def _shares(lengths: dict[str, int], most: int) -> dict[str, int]:
    """Return how many of each list to show: in turns, so that a long one does not crowd out the others."""
    shares = dict.fromkeys(lengths, 0)
    while sum(shares.values()) < most and any(shares[kind] < number for kind, number in lengths.items()):
        for kind, number in lengths.items():
            if shares[kind] < number and sum(shares.values()) < most:
                shares[kind] += 1
    return shares


def _omitted(source: SourceColumn, shown: list[Holder], left: dict[str, int]) -> dict[str, int]:
    """Return how many nodes are left out, those downstream by what they show."""
    shown_by = Counter(one.exposure for one in shown)
    counts = {f"downstream {exposure}": source.by_exposure[exposure] - shown_by[exposure] for exposure in EXPOSURES}
    counts |= {kind: left[kind] for kind in ("upstream", "influenced")}
    return {kind: number for kind, number in counts.items() if number}


def _holder(one: Holder) -> MapHolder:
    sql = [step.proof.sql[-1][:_MAX_SQL] for step in one.path if step.proof.sql][-_MAX_STEPS:]
    return MapHolder(
        name=one.name, exposure=str(one.exposure), hops=one.hops, reads=one.usage.reads, users=one.users, sql=sql
    )


def _origin(outline: Outline, names: dict[str, str]) -> MapOrigin:
    name = f"{names.get(outline.dataset, outline.table)}.{split_column_key(outline.key)[1]}"
    flows = EdgeKind.CONTRIBUTES in outline.influence
    return MapOrigin(name=name, hops=outline.hops, flows=flows, masked=outline.masked)
