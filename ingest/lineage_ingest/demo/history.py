"""A week of a hospital database's log (PostgreSQL jsonlog): scripts at night, analysts' queries by day."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lineage.sql.scan import split_statements

__all__ = ["write_history"]

_FIRST_NIGHT = datetime(2026, 1, 5, 2, tzinfo=UTC)
_NIGHTS = 7
_QUESTIONS_A_DAY = 150
_QUESTIONS = (
    "SELECT stay_id, max(sofa_24hours) FROM mimiciv_derived.sofa WHERE stay_id = {} GROUP BY stay_id",
    "SELECT charttime, valuenum FROM mimiciv_icu.chartevents WHERE stay_id = {} AND itemid = 220045 ORDER BY charttime",
    "SELECT p.gender, avg(a.age) FROM mimiciv_derived.age a JOIN mimiciv_hosp.patients p USING (subject_id) "
    "WHERE a.hadm_id > {} GROUP BY p.gender",
    "SELECT * FROM mimiciv_derived.icustay_detail WHERE hospital_expire_flag = 1 AND subject_id < {} LIMIT 100",
)
_ANALYSTS = ("ana", "bo", "chen")


def write_history(scripts: Path, file: Path) -> int:
    """Write the log, which is the same each time; return its number of statements.

    The scripts run every night, each in its own session, in alphabetical order, which ignores their dependencies.
    """
    pick = random.Random("demo")
    texts = [path.read_text(encoding="utf-8") for path in sorted(scripts.rglob("*.sql"))]
    ran = 0
    with file.open("w", encoding="utf-8") as log:
        for night in range(_NIGHTS):
            begin = _FIRST_NIGHT + timedelta(days=night)
            for line in (*_of_night(texts, begin), *_of_day(pick, begin + timedelta(hours=6))):
                log.write(line)
                ran += 1
    return ran


def _of_night(texts: list[str], begin: datetime) -> Iterator[str]:
    at = begin
    for number, text in enumerate(texts):
        session = f"{int(begin.timestamp()):x}.{number:x}"
        for line, (start, end) in enumerate(split_statements(text, "postgres"), 1):
            at += timedelta(seconds=7)
            yield _line(at, "etl", session, line, text[start:end], 4_000 + 31 * number)


def _of_day(pick: random.Random, begin: datetime) -> Iterator[str]:
    at = begin
    for number in range(_QUESTIONS_A_DAY):
        at += timedelta(seconds=pick.randrange(10, 300))
        question = pick.choices(_QUESTIONS, weights=(4, 3, 2, 1))[0].format(pick.randrange(30_000_000, 40_000_000))
        yield _line(
            at, pick.choice(_ANALYSTS), f"{int(at.timestamp()):x}.d{number:x}", 1, question, pick.randrange(900)
        )


def _line(at: datetime, user: str, session: str, line: int, text: str, milliseconds: int) -> str:
    entry = {
        "timestamp": at.strftime("%Y-%m-%d %H:%M:%S.000 UTC"),
        "user": user,
        "session_id": session,
        "line_num": line,
        "error_severity": "LOG",
        "message": f"duration: {milliseconds}.000 ms  statement: {text}",
    }
    return json.dumps(entry) + "\n"
