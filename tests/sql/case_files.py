"""Reads `tests/cases`: see the README there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

CASES = Path(__file__).parents[1] / "cases"


@dataclass
class Case:
    name: str
    dialect: str
    sql: str
    schemas: dict[str, list[str]] = field(default_factory=dict)
    tables: dict[str, tuple[list[tuple[str, str]], str]] = field(default_factory=dict)
    """As an engine has them: columns with types, and what stands behind the list."""
    options: dict[str, str] = field(default_factory=dict)
    edges: list[str] = field(default_factory=list)
    rows: list[str] | None = None
    diagnostics: list[str] = field(default_factory=list)
    expected: dict[str, str] = field(default_factory=dict)


def read_cases() -> Iterator[Case]:
    for path in sorted(CASES.glob("*/*.case")):
        for text in re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            title, _, rest = text.partition("\n")
            head, sql, tail = re.split(r"^---\n", rest, flags=re.MULTILINE)
            case = Case(f"{path.parent.name}/{path.stem}: {title.strip()}", path.stem, sql.strip())
            for line in filter(None, map(str.strip, head.splitlines())):
                word, _, value = line.partition(" ")
                if word == "schema":
                    table, _, columns = value.partition("(")
                    case.schemas[table.strip()] = [c.strip() for c in columns.rstrip(")").split(",")]
                elif word == "table":
                    table, _, columns = value.partition("(")
                    case.tables[table.strip()] = _typed_columns(columns)
                else:
                    case.options[word] = value.strip()
            for line in filter(None, map(str.strip, tail.splitlines())):
                word, _, value = line.partition(" ")
                if word == "!":
                    case.diagnostics.append(value)
                elif word == "rows":
                    case.rows = [*(case.rows or ()), *([value] if value != "none" else [])]
                elif word in ("columns", "sources", "completeness", "target", "operation"):
                    case.expected[word] = value.strip()
                else:
                    case.edges.append(line)
            yield case


def _typed_columns(text: str) -> tuple[list[tuple[str, str]], str]:
    """Return the columns and types of a list whose parenthesis has been opened, and the text behind it."""
    depth, begin, found = 0, 0, []
    for position, character in enumerate(text):
        if depth == 0 and character in ",)":
            name, _, kind = text[begin:position].strip().partition(" ")
            found.append((name, kind.strip()))
            begin = position + 1
            if character == ")":
                return found, text[begin:].strip()
        depth += (character in "(<[") - (character in ")>]")
    raise ValueError(f"the list does not end: {text}")
