"""Tags from a CSV file: one a line, `column,class,action,confidence,why`."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from lineage.frozen import frozen
from lineage.governance.yaml_files import GovernanceFileError

__all__ = ["TagLine", "read_tag_csv"]

_COLUMNS = ("column", "class", "action", "confidence", "why")
_ACTIONS = ("add", "remove", "deny")


@frozen
class TagLine:
    """A line: the column as it is written, its class, and what to do with the tag."""

    line: int
    column: str
    name: str
    action: str = "add"
    confidence: float = 1.0
    why: str = ""


def read_tag_csv(path: Path) -> list[TagLine]:
    """Return the lines of a file.

    Raises:
        GovernanceFileError: the file cannot be read, or a line is wrong; nothing of it counts then.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return list(_lines(str(path), csv.reader(file)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise GovernanceFileError(str(path), 1, 1, f"cannot be read: {error}") from error


def _lines(path: str, rows: Iterator[list[str]]) -> Iterator[TagLine]:
    head = [one.strip().lower() for one in next(rows, [])]
    if not {"column", "class"} <= set(head):
        raise GovernanceFileError(path, 1, 1, f"the first line names the columns: {','.join(_COLUMNS)}")
    if unknown := [one for one in head if one not in _COLUMNS]:
        raise GovernanceFileError(path, 1, head.index(unknown[0]) + 1, f"unknown column {unknown[0]!r}")
    for number, row in enumerate(rows, start=2):
        if not any(one.strip() for one in row):
            continue
        given = {name: value.strip() for name, value in zip(head, row, strict=False) if value.strip()}
        for name in ("column", "class"):
            if name not in given:
                raise GovernanceFileError(path, number, head.index(name) + 1, f"no {name}")
        action = given.get("action", "add").lower()
        if action not in _ACTIONS:
            where = head.index("action") + 1
            raise GovernanceFileError(path, number, where, f"{action!r} is no action: add, remove or deny")
        confidence = _number(given.get("confidence", "1"))
        if confidence is None:
            where = head.index("confidence") + 1
            raise GovernanceFileError(path, number, where, "a confidence is a number above 0, up to 1")
        yield TagLine(number, given["column"], given["class"].lower(), action, confidence, given.get("why", ""))


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if 0 < found <= 1 else None
