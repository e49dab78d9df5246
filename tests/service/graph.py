"""The small graph that tests of the service ask.

    users(id, email, country) ─► staged(id, mail) ─► contacts(address, hashed, n)

`hashed` hides the address and `n` counts it; `country` decides which rows `staged` has. `copied` has table-level
lineage only. On day 1 only `id` was there.
"""

from __future__ import annotations

from dataclasses import replace

from lineage.model.batch import DiagnosticRecord, UsageRecord
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.model.statement import Completeness
from lineage.store import GraphStore
from tests.store.batch_builders import JobWithEdges, batch, day, job, key, table

__all__ = ["STAGED_SQL", "fill"]

STAGED_SQL = "insert into staged select id, email from users where country = '**'"
_CONTACTS_SQL = "insert into contacts select mail, md5(mail), count(mail) from staged"


def fill(store: GraphStore) -> None:
    """Put the graph into a store."""
    tables = (table("users", "id", "email", "country"), table("contacts", "address", "hashed", "n"))
    store.apply(batch(*tables, _staged("users.id -> staged.id", at=1), run="first"))
    contacts = job(
        "contacts.sql",
        "staged.mail -> contacts.address",
        "staged.mail -> contacts.hashed MASKING TRANSFORMATION",
        "staged.mail -> contacts.n MASKING AGGREGATION",
        at=5,
        sql=_CONTACTS_SQL,
    )
    copied = job("copy.py", reads=["contacts"], writes=["copied"], at=5)
    copied = replace(copied, job=replace(copied.job, completeness=Completeness.TABLES))
    staged = _staged("users.id -> staged.id", "users.email -> staged.mail", "users.country ~> staged", at=5)
    finding = Diagnostic(DiagnosticCode.UNKNOWN_TABLE, Severity.WARNING, "no table `x`", Span(3, 5, 1, 4), "look")
    used = (
        *(
            UsageRecord(key("users"), day(n).date(), 2, 1, (("ana", 2), ("bo", 1)), last_read=day(n), last_write=day(n))
            for n in (3, 4)
        ),
        UsageRecord(key("users.email"), day(4).date(), reads=1, users=(("ana", 1),), last_read=day(4)),
    )
    store.apply(
        replace(
            batch(*tables, staged, contacts, copied, run="second"),
            diagnostics=(DiagnosticRecord(finding, "contacts.sql", "contacts.sql", "shop:contacts.sql@postgres"),),
            usage=used,
        )
    )


def _staged(*lines: str, at: float) -> JobWithEdges:
    record = job("staged.sql", *lines, at=at, sql=STAGED_SQL)

    def place(column: str) -> tuple[int, int]:
        start = STAGED_SQL.index(f" {column}") + 1
        return start, start + len(column)

    return replace(
        record, edges=tuple(replace(edge, spans=(place(edge.source.rpartition("#")[2]),)) for edge in record.edges)
    )
