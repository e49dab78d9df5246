"""The table of faults, and its place in the documentation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.places import EMBEDDED, NEO4J

__all__ = ["PAGE", "Row", "listed", "write_table"]

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"
_BEGIN, _END = "<!-- table: written by make faults -->", "<!-- end of the table -->"


@dataclass
class Row:
    """A fault, and what happened to each kind of store."""

    group: str
    name: str
    happened: dict[str, str] = field(default_factory=dict)


def listed(rows: Iterable[Row]) -> str:
    """Return the table in Markdown."""
    lines = [f"| fault | of, or in | {EMBEDDED} | {NEO4J} |", "|---|---|---|---|"]
    before = ""
    for row in rows:
        cells = [row.happened.get(kind, "-").replace("|", "\\|").replace("\n", " ") for kind in (EMBEDDED, NEO4J)]
        lines.append(f"| {'' if row.group == before else row.group} | {row.name} | {' | '.join(cells)} |")
        before = row.group
    return "\n".join(lines)


def write_table(page: Path, table: str) -> None:
    """Write the table into its place in a page."""
    text = page.read_text(encoding="utf-8")
    head, _, rest = text.partition(_BEGIN)
    _, _, tail = rest.partition(_END)
    page.write_text(f"{head}{_BEGIN}\n\n{table}\n\n{_END}{tail}", encoding="utf-8")
