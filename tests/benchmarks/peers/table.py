"""The side-by-side table as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["as_markdown"]

_TITLES = {"mimic_iv": "MIMIC-IV (PostgreSQL)", "tpch": "TPC-H (Spark)"}


def as_markdown(figures: Mapping[str, Any], notes: Mapping[str, tuple[tuple[str, ...], str]], seconds: int) -> str:
    """Return a row for each tool and what was measured on each set, then the notes."""
    head = [
        "tool",
        *(f"{title}: {what}" for title in _TITLES.values() for what in ("exact", "statements/s", "peak MB")),
    ]
    lines = [
        "# Side by side",
        "",
        "Made by `python -m tests.benchmarks peers`. Exact: for every output column every source of its value, and",
        "none that is not (tests/data/README.md says where the truth is from). The tests of a CASE count as sources.",
        "Statements per second of the processor's time: one pass over the statements after a warm-up, one process,",
        f"at most {seconds} seconds for a statement.",
        "",
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
    ]
    for name, measured in figures.items():
        lines.append(f"| {' | '.join([name, *_cells(measured)])} |")
    lines += ["", "How each was asked:", ""]
    for name, (packages, note) in notes.items():
        installed = f"`{' '.join(packages)}`: " if packages else ""
        lines.append(f"- {name}: {installed}{note}.")
    for name, measured in figures.items():
        for subject, found in measured.items():
            if isinstance(found, dict) and (found["first_errors"] or found["first_wrong"]):
                examples = [f"{key}: {text}" for key, text in (found["first_errors"] | found["first_wrong"]).items()]
                lines.append(f"- {name}, {_TITLES[subject]}: {found['errors']} errors; e.g. {'; '.join(examples[:3])}.")
    return "\n".join(lines) + "\n"


def _cells(measured: Mapping[str, Any]) -> list[str]:
    if "not_installed" in measured:
        return [f"not installed: {measured['not_installed']}", *[""] * (3 * len(_TITLES) - 1)]
    cells: list[str] = []
    for subject in _TITLES:
        found = measured[subject]
        cells += [
            f"{found['exact']} of {found['statements']}",
            str(found["statements_per_second"]),
            str(found["peak_mb"]),
        ]
    return cells
