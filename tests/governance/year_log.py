"""A query log of a year over 60 tables, of which it is known what each statement reads and writes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["FIRST_DAY", "FORMS", "GROUPS", "HOLDERS", "Form", "schema", "write_facts", "write_log"]

FIRST_DAY = datetime(2025, 1, 1, tzinfo=UTC)
GROUPS = range(20)
"""Each group is three tables: raw.people_N → stage.people_N → mart.cities_N, filled anew every night."""
_COLUMNS = {
    "raw.people": "id int, email text, phone text, city text, amount numeric",
    "stage.people": "id int, email text, phone text, email_hash text, city text, amount numeric",
    "mart.cities": "city text, people int, amount numeric, last_email text",
}
HOLDERS = {
    "email": {"raw.people": ["email"], "stage.people": ["email", "email_hash"], "mart.cities": ["last_email"]},
    "phone": {"raw.people": ["phone"], "stage.people": ["phone"], "mart.cities": []},
}
"""The columns with values of each class, where the class is tagged on raw.people only."""


@dataclass(frozen=True)
class Form:
    """A statement about a group (`{n}`) and its literal (`{x}`), with the columns that it reads."""

    sql: str
    reads: dict[str, str]
    writes: str | None = None
    status: str = "success"


FORMS = {
    "load": Form(
        "insert into stage.people_{n} (id, email, phone, email_hash, city, amount) "
        "select id, email, phone, md5(email), city, amount from raw.people_{n} where id > {x}",
        {"raw.people": "id email phone city amount"},
        "stage.people",
    ),
    "sums": Form(
        "insert into mart.cities_{n} (city, people, amount, last_email) "
        "select city, count(*), sum(amount), max(email) from stage.people_{n} where id > {x} group by city",
        {"stage.people": "id city amount email"},
        "mart.cities",
    ),
    "raw": Form("select id, email from raw.people_{n} where id = {x}", {"raw.people": "id email"}),
    "rows": Form("select count(*) from raw.people_{n}", {"raw.people": ""}),
    "failed": Form("select phone from raw.people_{n} where id = {x}", {"raw.people": "id phone"}, status="failed"),
    "filter": Form("select city from stage.people_{n} where email = '{x}'", {"stage.people": "city email"}),
    "hash": Form("select email_hash, amount from stage.people_{n} where amount > {x}",
                 {"stage.people": "email_hash amount"}),
    "star": Form("select * from stage.people_{n} where id = {x}",
                 {"stage.people": "id email phone email_hash city amount"}),
    "change": Form("update stage.people_{n} set phone = '{x}' where id = {x}", {"stage.people": "id"}, "stage.people"),
    "mart": Form("select city, last_email from mart.cities_{n} where people > {x}",
                 {"mart.cities": "city last_email people"}),
    "join": Form(
        "select p.phone, m.amount from stage.people_{n} p join mart.cities_{n} m on m.city = p.city where p.id = {x}",
        {"stage.people": "phone city id", "mart.cities": "amount city"},
    ),
}  # fmt: skip
_ASKED = [name for name in FORMS if name not in ("load", "sums")]


def schema() -> str:
    """Return the DDL of the 60 tables."""
    return "".join(f"create table {table}_{n} ({columns});\n" for table, columns in _COLUMNS.items() for n in GROUPS)


def write_log(file: Path, days: int, users: int, seed: int) -> int:
    """Write a log of so many days into a Parquet file; return the number of rows.

    Nobody asks groups 14 to 16 in the second half, of 17 and 18 only raw.people is asked then, and group 19 is never
    asked. Some users begin in the last month, and one query in fifty has no user.
    """
    fields = [(name, pa.string()) for name in ("query_text", "user", "status", "form")]
    columns = pa.schema([*fields, ("started_at", pa.timestamp("us", "UTC")), ("duration_ms", pa.int64()),
                         ("n", pa.int64())])  # fmt: skip
    rows, count = _rows(random.Random(seed), days, users), 0
    with pq.ParquetWriter(file, columns) as writer:
        while batch := list(islice(rows, 50_000)):
            writer.write_table(pa.Table.from_pylist(batch, columns))
            count += len(batch)
    return count


def _rows(pick: random.Random, days: int, users: int) -> Iterator[dict[str, Any]]:
    begins = [pick.randrange(days) if user % 10 else max(0, days - 20) for user in range(users)]
    homes = [pick.sample(GROUPS[:19], 3) for _ in range(users)]
    for day in range(days):
        for n in GROUPS:
            yield _row(pick, day, "load", n, "etl")
            yield _row(pick, day, "sums", n, "etl")
        for user in range(users):
            for _ in range(pick.choice((0, 2, 4, 6, 12)) if day >= begins[user] else 0):
                n, form = pick.choice(homes[user]), pick.choice(_ASKED)
                if day >= days // 2 and n >= 14:
                    if n < 17:
                        continue
                    form = pick.choice(("raw", "rows"))
                yield _row(pick, day, form, n, f"user {user}" if pick.random() > 0.02 else None)


def _row(pick: random.Random, day: int, form: str, n: int, user: str | None) -> dict[str, Any]:
    at = FIRST_DAY + timedelta(days=day, seconds=pick.randrange(86_400))
    text = FORMS[form].sql.format(n=n, x=pick.randrange(1, 10**6))
    return {
        "query_text": text, "user": user, "status": FORMS[form].status, "form": form, "started_at": at,
        "duration_ms": pick.randrange(1, 5_000), "n": n,
    }  # fmt: skip


def write_facts(file: Path) -> None:
    """Write what each form reads and writes: form, side, table, and (of reads) column."""
    facts = [
        {"form": name, "side": "read", "tbl": table, "col": column}
        for name, form in FORMS.items()
        for table, columns in form.reads.items()
        for column in ["", *columns.split()]
    ]
    facts += [
        {"form": name, "side": "write", "tbl": form.writes, "col": ""} for name, form in FORMS.items() if form.writes
    ]
    pq.write_table(pa.Table.from_pylist(facts), file)
