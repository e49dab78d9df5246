"""What is encrypted and decrypted again is shown, along any way, and round a circle."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import lineage

_ENCRYPTED = (
    "create table a.p (id int, ssn text); create table a.enc as select id, pgp_sym_encrypt(ssn, 'k') as c from a.p; "
)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("create view a.v as select md5(c) as h, c from a.enc", {"a.v.h": "masked", "a.v.c": "masked"}),
        (
            "create view a.v as select pgp_sym_decrypt(c, 'k') as x from a.enc; create view a.w as select x from a.v",
            {"a.v.x": "unmasked", "a.w.x": "unmasked"},
        ),
        ("create view a.v as select right(pgp_sym_decrypt(c, 'k'), 4) as x from a.enc", {"a.v.x": "partial"}),
        ("create view a.v as select md5(pgp_sym_decrypt(c, 'k')) as x from a.enc", {"a.v.x": "masked"}),
        (
            "create view a.v as select c as d from a.enc; create view a.w as select vault.detokenize(d) as x from a.v",
            {"a.v.d": "masked", "a.w.x": "unmasked"},
        ),
        (
            "create view a.v as select pgp_sym_decrypt(c, 'k') as x from a.enc;"
            "insert into a.enc select 1, pgp_sym_encrypt(x, 'k') from a.v;"
            "insert into a.p select 1, x from a.v",
            {"a.v.x": "unmasked"},
        ),
    ],
)
def test_a_decrypted_value_is_shown(tmp_path: Path, sql: str, expected: dict[str, str]) -> None:
    (tmp_path / "a.sql").write_text(_ENCRYPTED + sql)
    store = ("--store", tmp_path / "l.db")
    assert lineage("ingest", "sql", tmp_path / "a.sql", "--dialect", "postgres", *store).code == 0
    reached = lineage("pii", "where", "a.p.ssn", "--json", *store).json["reached"]
    assert {one["name"]: one["exposure"] for one in reached} == {"a.enc.c": "masked", **expected}
    for one in reached:
        assert len(one["path"]) == one["hops"]
