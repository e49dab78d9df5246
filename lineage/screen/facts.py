"""Facts of tables and columns as `lineage show` prints them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lineage.model.facts import Check, Facts

__all__ = ["first_description", "shown_facts", "tags_of"]


def first_description(facts: Iterable[Facts]) -> str | None:
    """Return the first description that a source states."""
    return next((one.description for one in facts if one.description), None)


def tags_of(facts: Iterable[Facts]) -> Iterator[str]:
    """Yield the tags that sources state."""
    return (tag for one in facts for tag in one.tags)


def shown_facts(facts: Iterable[Facts]) -> dict[str, Any]:
    """Return the other facts that have a value, as texts by name."""
    texts: dict[str, list[str]] = {
        "owners": [], "declared_types": [], "metadata": [], "constraints": [], "tests": [], "freshness": [],
    }  # fmt: skip
    for source_facts in facts:
        texts["owners"] += [source_facts.owner] if source_facts.owner else []
        texts["declared_types"] += [source_facts.data_type] if source_facts.data_type else []
        texts["metadata"] += (f"{name}={value}" for name, value in source_facts.meta)
        enforced = " (enforced)" if source_facts.is_contracted else ""
        texts["constraints"] += (
            f"{each.kind}{f' ({chr(44).join(each.columns)})' if each.columns else ''}{enforced}"
            for each in source_facts.constraints
        )
        texts["tests"] += map(_test, source_facts.checks)
        if source_facts.freshness is not None:
            loaded = (
                f", newest row of {source_facts.freshness.loaded_at:%Y-%m-%d %H:%M}"
                if source_facts.freshness.loaded_at
                else ""
            )
            texts["freshness"].append(
                f"{source_facts.freshness.status} at {source_facts.freshness.at:%Y-%m-%d %H:%M}{loaded}"
            )
    return {name: list(dict.fromkeys(values)) for name, values in texts.items() if values}


def _test(check: Check) -> str:
    columns = f" ({', '.join(check.columns)})" if check.columns else ""
    columns += f" where {check.condition}" if check.condition else ""
    if check.result is None:
        return f"{check.kind}{columns}: not run"
    rows = f", {check.result.failures:,} rows" if check.result.failures else ""
    return f"{check.kind}{columns}: {check.result.status}{rows} on {check.result.at:%Y-%m-%d}"
