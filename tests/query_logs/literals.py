"""Makes a log of few statements that differ in their constants: python -m tests.query_logs.literals FILE --rows 150000.

Ingest it by `lineage ingest log FILE --dialect postgres`: it has a job for each of `SHAPES`, whatever its rows.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

__all__ = ["SHAPES", "literal_rows", "write_literals"]

_TABLES = ("orders", "customers", "payments", "items", "visits")
_STATEMENTS = (
    "UPDATE shop.{t} SET amount = amount + N WHERE id = N",
    "UPDATE shop.{t} SET note = S, changed_at = TIMESTAMP D WHERE id = N AND note <> S",
    "UPDATE shop.{t} SET state = CASE WHEN amount > N THEN S ELSE S END, rate = round(rate * N, N) WHERE id IN (N, N)",
    "INSERT INTO mart.{t}_daily SELECT id, amount, DATE D FROM shop.{t} WHERE day = DATE D",
    "INSERT INTO mart.{t}_notes (id, note, source) SELECT id, note || S, S FROM shop.{t} WHERE id = N",
    "INSERT INTO mart.{t}_sums SELECT day, sum(amount * N) AS total, coalesce(a, N) AS r FROM shop.{t} GROUP BY 1",
    "INSERT INTO shop.{t} (id, amount, note) VALUES (N, N, S), (N, -N, S)",
    "DELETE FROM shop.{t} WHERE id = N",
    "SELECT id, amount + N, S AS what FROM shop.{t} WHERE note LIKE S ORDER BY amount * N LIMIT N",
    "CREATE TABLE mart.{t}_last AS SELECT id, amount - N AS amount, DATE D AS day FROM shop.{t} WHERE id > N",
)
SHAPES = tuple(text.replace("{t}", table) for table in _TABLES for text in _STATEMENTS)
"""N stands for a number, S for a text, D for a day in quotes."""
_PLACE = re.compile(r"\b[NSD]\b")
_START = datetime(2026, 1, 1, tzinfo=UTC)


def literal_rows(rows: int, seed: int = 1) -> Iterator[dict[str, str]]:
    """Yield rows of the source `generic`, in the order of their times."""
    chance = random.Random(seed)

    def value(found: re.Match[str]) -> str:
        if found.group() == "N":
            return str(chance.randrange(1_000_000))
        if found.group() == "D":
            return f"'{(_START + timedelta(days=chance.randrange(3_000))).date()}'"
        return f"'{chance.choice('abcdef')}{chance.randrange(1_000_000)}'"

    for number in range(rows):
        at = _START + timedelta(seconds=40 * number)
        text = _PLACE.sub(value, SHAPES[number % len(SHAPES)])
        yield {"started_at": at.isoformat(), "user": f"app{number % 7}", "query_text": text}


def write_literals(path: Path, rows: int, seed: int = 1) -> None:
    """Write such a log as JSON lines."""
    with path.open("w", encoding="utf-8") as file:
        for row in literal_rows(rows, seed):
            file.write(json.dumps(row) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--rows", type=int, default=150_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    write_literals(given.file, given.rows, given.seed)


if __name__ == "__main__":
    main()
