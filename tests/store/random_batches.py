"""Random batches about a few datasets, with contradictions, late data and renames."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import date

from lineage.model.batch import DiagnosticRecord, JobRecord, LineageBatch, UsageRecord
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from tests.store.batch_builders import batch, day, drop, job, key, query, rename, swap, table, view


def random_batch(chance: random.Random, *, at_most: int = 3) -> LineageBatch:
    """Return a batch about a handful of datasets, at any time of the month, with at most that many statements."""
    names = ["one", "two", "three", "four"]

    def lines(output: str) -> list[str]:
        made = set()
        for _ in range(chance.randrange(4)):
            source = f"{chance.choice(names)}.c{chance.randrange(3)}"
            target = output if chance.random() < 0.3 else f"{output}.c{chance.randrange(3)}"
            arrow = "->" if "." in target and chance.random() < 0.7 else "~>"
            both = " IDENTITY AGGREGATION" if arrow == "->" else " FILTER JOIN"
            marks = chance.choices(("", " MASKING", f"{both}:MASKING", f"{both}"), (6, 2, 1, 1))[0]
            made.add(f"{source} {arrow} {target}{marks}")
        return sorted(made, key=lambda line: line.split()[:3])

    records: list[object] = []
    for _ in range(chance.randrange(1, at_most + 1)):
        at, output, other = chance.randrange(1, 30), *chance.sample(names, 2)
        until = at + chance.choice([0, 0, 2])
        what = chance.randrange(8)
        if what == 0:
            records.append(table(output, *(f"c{n}" for n in range(chance.randrange(1, 4))), at=at))
        elif what == 1:
            records.append(chance.choice([drop(output, at), rename(output, other, at), swap(output, other, at)]))
        elif what == 2:
            records.append(query(f"q{chance.randrange(3)}", *lines(output), at=at, until=until))
        elif what < 5:
            records.append(view(output, *lines(output), at=at, until=until))
        else:
            source = f"f{chance.randrange(2)}.sql"
            records.append(job(f"file:{source}>{output}", *lines(output), at=at, until=until, source=source))
    files = ["f0.sql"] if chance.random() < 0.4 else []
    found = batch(*records, files=files, at=chance.randrange(1, 30), run=f"{chance.random()}")  # type: ignore[arg-type]
    diagnostic = Diagnostic(DiagnosticCode.PARSE_ERROR, Severity.ERROR, f"finding {chance.randrange(5)}")
    jobs = {one.key: counted_runs(one, chance) for one in found.jobs}
    return replace(
        found,
        datasets=tuple({one.key: one for one in found.datasets}.values()),
        jobs=tuple(jobs.values()),
        diagnostics=(DiagnosticRecord(diagnostic, "f0.sql", next(iter(jobs), None)),),
        usage=tuple(random_usage(names, chance) for _ in range(3)),
    )


def random_queries(chance: random.Random) -> LineageBatch:
    """Return a batch of queries only, which only add lineage, at any time of the month."""
    records = []
    for number in range(chance.randrange(1, 8)):
        output, source, at = *chance.sample(["one", "two", "three"], 2), chance.randrange(1, 30)
        line = f"{source}.c{chance.randrange(3)} -> {output}.c{chance.randrange(3)}"
        records.append(query(f"q{number}", line, at=at, until=at + chance.choice([0, 3])))
    return batch(*records, run=f"{chance.random()}")


def random_users(chance: random.Random) -> tuple[tuple[str, int], ...]:
    """Return pairs of users (possibly repeated) and queries."""
    return tuple((chance.choice(["ana", "bo", "cy"]), chance.randrange(1, 9)) for _ in range(chance.randrange(4)))


def counted_runs(record: JobRecord, chance: random.Random) -> JobRecord:
    """Return the job with run counts."""
    runs, duration = chance.randrange(1, 5), chance.choice([0, 700, 5_000_000_000])
    return replace(record, observations=runs, users=random_users(chance), duration_us=duration)


def random_usage(names: list[str], chance: random.Random) -> UsageRecord:
    """Return the usage of a dataset or a column on a day of the month."""
    on = chance.randrange(1, 30)
    last_read, last_write = (chance.choice([None, day(on + chance.random())]) for _ in range(2))
    of = key(chance.choice(names) + chance.choice(["", ".c1"]))
    return UsageRecord(of, date(2024, 1, on), 1, 2, random_users(chance), last_read, last_write)
