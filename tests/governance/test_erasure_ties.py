"""Which conditions tie the rows of a table to a person, and which tie none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cli.running import lineage

_FROM = "create view app.v as select t.cc from app.users u join app.notes t on "
_IN = "create view app.v as select t.cc from app.notes t where "
_SURE, _CHECK = "app.notes", "app.notes CHECK"


_CONDITIONS = [
        (_FROM + "t.uid = u.id", [_SURE]),
        (_FROM + "(u.id) = (t.uid) and t.cc = '1'", [_SURE]),
        (_FROM + "(t.uid = u.id or t.uid is null)", [_SURE]),
        (_FROM + "t.author = u.id::text", [_SURE]),
        (_FROM + "cast(u.id as varchar(10)) = t.author", [_SURE]),
        (_FROM + "t.uid is not distinct from u.id -- the author", [_SURE]),
        (_FROM + "coalesce(t.uid, -1) = u.id", [_CHECK]),
        (_FROM + "t.uid = u.id + 1", [_CHECK]),
        (_FROM + "t.uid - 1 = u.id", [_CHECK]),
        (_FROM + "t.uid <> u.id", []),
        (_FROM + "t.uid >= u.id", []),
        (_FROM + "t.uid = 1 and u.id = 2", []),
        (_IN + "t.uid in (select id from app.users where email is null)", [_SURE]),
        (_IN + "t.uid not in (select distinct u.id from app.users u)", [_SURE]),
        (_IN + "t.uid = any (select id from app.users)", [_SURE]),
        (_IN + "(t.uid, t.cc) in (select id, email from app.users)", [_SURE]),
        (_IN + "(t.cc, t.uid) in (select email, id from app.users)", []),
        (_IN + "t.uid in (select max(id) from app.users)", []),
        (_IN + "exists (select 1 from app.users u where u.id = t.uid)", [_SURE]),
        ("create view app.v as with w as (select id as p from app.users) select t.cc from" +
         " w join app.notes t on t.uid = w.p", [_SURE]),
        ("create view app.v as with w as (select id + 1 as p from app.users) select t.cc from" +
         " w join app.notes t on t.uid = w.p", [_CHECK]),
        ("create view app.v as select note from app.users join app.marks using (id)", ["app.marks"]),
        ("create view app.v as select note from app.users natural join app.marks", ["app.marks"]),
        ("merge into app.notes t using app.users u on t.uid = u.id when matched then update set cc = ''", [_SURE]),
        ("delete from app.notes t using app.users u where t.uid = u.id", [_SURE]),
]  # fmt: skip


def test_conditions_tie_rows(tmp_path: Path) -> None:
    named = [
        sql.replace("app.", f"s{at}.").replace(f"s{at}.users", "app.users") for at, (sql, _) in enumerate(_CONDITIONS)
    ]
    plan = _plan(tmp_path, named)
    found: dict[int, list[str]] = {at: [] for at in range(len(named))}
    for step in plan["steps"][:-1]:
        schema, table = step["table"].split(".")
        found[int(schema[1:])].append(f"app.{table}" + ("" if step["sure"] else " CHECK"))
    assert [(sql, found[at]) for at, (sql, _) in enumerate(_CONDITIONS)] == _CONDITIONS


def test_a_table_whose_values_are_compared_with_the_persons_is_named(tmp_path: Path) -> None:
    plan = _plan(tmp_path, [_FROM.replace("app.notes", "s0.notes") + "t.author = u.email"])
    assert plan["unknown"][-1] == "s0.notes.author: SQL compares it with app.users.email, and nothing ties it"


def _plan(folder: Path, statements: list[str]) -> Any:
    schema = "create table app.users (id int, email text);"
    for at in range(len(statements)):
        schema += f"create table s{at}.notes (uid int, cc text, author text, email text);"
        schema += f"create table s{at}.marks (id int, note text);"
    (folder / "schema.sql").write_text(schema)
    (folder / "a.sql").write_text("\n;".join(statements))
    store = ("--store", folder / "l.db")
    done = lineage(
        "ingest", "sql", folder / "a.sql", "--dialect", "postgres", "--catalog", folder / "schema.sql", *store
    )
    assert done.code == 0, done.err
    done = lineage("pii", "erase-plan", "app.users.email", "--key", "app.users.id", "--json", *store)
    assert done.code == 0, done.err
    return done.json
