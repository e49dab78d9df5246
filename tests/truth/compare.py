"""Compares lineage with `contributes.json`: see tests/data/README.md."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import TypeAlias

from lineage.model.influence.transformations import EdgeKind
from lineage.model.statement import ColumnRef, StatementLineage

Truth: TypeAlias = "dict[str, dict[str, dict[str, list[str]]]]"

DATA = Path(__file__).parents[1] / "data"
DEMO = Path(__file__).parents[2] / "ingest" / "lineage_ingest" / "demo" / "mimic_iv"


def read_truth(folder: str) -> Truth:
    truth: Truth = json.loads((DATA / folder / "contributes.json").read_text(encoding="utf-8"))
    return truth


def differences(statement: StatementLineage, columns: dict[str, dict[str, list[str]]]) -> list[str]:
    """Return what a statement reports wrongly, column by column; nothing if it is exact."""
    reported: dict[str, set[str]] = defaultdict(set)
    contributing: dict[str, set[str]] = defaultdict(set)
    for edge in statement.edges:
        if isinstance(edge.target, ColumnRef):
            source = short_name(f"{edge.source.table}.{edge.source.column}")
            reported[edge.target.column].add(source)
            if edge.kind is EdgeKind.CONTRIBUTES:
                contributing[edge.target.column].add(source)
    found = []
    if set(statement.output_columns) != set(columns):
        found.append(f"columns differ: {sorted(set(statement.output_columns) ^ set(columns))}")
    for name, sources in columns.items():
        must, may = (set(map(short_name, sources[key])) for key in ("must", "may"))
        found += [f"{name}: {source} is missing" for source in sorted(must - reported[name])]
        found += [f"{name}: {source} is too much" for source in sorted(contributing[name] - must - may)]
    return found


def short_name(column: str) -> str:
    """Tables compare by their last name part."""
    return ".".join(column.split(".")[-2:])
