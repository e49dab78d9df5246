"""Facts about datasets and columns: each source's are replaced by its newer ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace

from lineage.model.facts import Facts, facts_from, facts_text
from lineage.store.planning.graph_state import GraphState
from lineage.store.planning.intake import Intake
from lineage.store.values import StoredColumn

__all__ = ["joined_facts", "plan_without_facts", "state_facts"]


def state_facts(state: GraphState, intake: Intake) -> None:
    """Store the batch's facts. Facts older than the source's known ones are ignored; tests keep their last results.

    Facts about columns that the dataset does not have are not stored.
    """
    if not intake.facts:
        return
    columns: dict[str, list[StoredColumn]] = defaultdict(list)
    for column in state.columns.values():
        columns[column.dataset].append(column)
    for record in intake.facts:
        dataset, source = state.datasets[record.dataset], record.facts.source
        known = next((one for one in facts_from(dataset.facts) if one.source == source), None)
        if known is not None and known.at > record.facts.at:
            continue
        state.datasets[record.dataset] = replace(dataset, facts=_stated(dataset.facts, source, record.facts))
        for column in columns[record.dataset]:
            own = record.columns.get(column.path) if column.dropped_at is None else None
            text = _stated(column.facts, source, own)
            if text != column.facts:
                state.columns[column.key] = column.with_facts(text)


def _stated(text: str | None, source: str, new: Facts | None) -> str | None:
    """Return the facts with those of one source replaced, or removed."""
    if text is None:
        return facts_text([new]) if new is not None else None
    facts_by_source = {one.source: one for one in facts_from(text)}
    earlier = facts_by_source.pop(source, None)
    if new is not None:
        facts_by_source[source] = new.after(earlier) if earlier is not None else new
    return facts_text(facts_by_source.values())


def plan_without_facts(before: GraphState, stated: Collection[tuple[str, str]]) -> GraphState:
    """Return the state without facts, given by source and dataset."""
    after = before.copy()
    for key, dataset in before.datasets.items():
        after.datasets[key] = replace(dataset, facts=_without(dataset.facts, key, stated))
    for key, column in before.columns.items():
        after.columns[key] = replace(column, facts=_without(column.facts, column.dataset, stated))
    return after


def _without(text: str | None, dataset: str, stated: Collection[tuple[str, str]]) -> str | None:
    return facts_text(one for one in facts_from(text) if (one.source, dataset) not in stated)


def joined_facts(first: str | None, second: str | None) -> str | None:
    """Return the facts of two datasets or columns that are merged; of one source, the newer ones."""
    if first is None or second is None or first == second:
        return first or second
    facts_by_source: dict[str, Facts] = {}
    for facts in (*facts_from(first), *facts_from(second)):
        known = facts_by_source.get(facts.source)
        older, newer = (known, facts) if known is None or facts.at >= known.at else (facts, known)
        facts_by_source[facts.source] = newer.after(older) if older is not None else newer
    return facts_text(facts_by_source.values())
