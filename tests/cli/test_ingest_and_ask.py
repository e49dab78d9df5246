"""Files in, answers out, on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import lineage

FILES = {
    "staging/orders.sql": "CREATE VIEW orders AS SELECT id, user_id, amount * 100 AS cents "
    "FROM raw_orders WHERE NOT test",
    "mart/revenue.sql": "CREATE TABLE revenue AS SELECT u.country, sum(o.cents) AS total FROM orders o "
    "JOIN users u ON u.id = o.user_id GROUP BY u.country",
}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "graph.db"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "models" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "models"


def ingest(folder: Path, store: Path, *more: object) -> dict[str, object]:
    done = lineage("ingest", "sql", folder, "-d", "postgres", "-s", store, "-f", "json", *more)
    assert done.code == 0, done.err
    summary: dict[str, object] = done.json
    return summary


def test_impact(folder: Path, store: Path) -> None:
    summary = ingest(folder, store)
    assert (summary["statements"], summary["resolved"], summary["diagnostics"]) == (2, 2, 0)
    answer = lineage("impact", "raw_orders.amount", "-s", store, "-f", "json").json
    reached = {column["table"] + "." + column["column"]: column for column in answer["columns"]}
    assert {name: (c["hops"], c["transformation"]) for name, c in reached.items()} == {
        "orders.cents": (1, "TRANSFORMATION"),
        "revenue.total": (2, "AGGREGATION"),
    }


@pytest.mark.parametrize("limit", [("--max-hops", "1"), ("--limit", "1"), ("--limit-per-hop", "1")])
def test_what_stops_an_answer_is_named_as_it_is_typed(folder: Path, store: Path, limit: tuple[str, str]) -> None:
    ingest(folder, store)
    assert f"stopped by {' '.join(limit)}: " in lineage("root-cause", "revenue.total", *limit, "-s", store).err


def test_root_cause(folder: Path, store: Path) -> None:
    ingest(folder, store)
    answer = lineage("root-cause", "revenue.total", "-s", store, "--max-references", "0", "-f", "json").json
    assert [(c["column"], c["root"]) for c in answer["columns"]] == [("cents", False), ("amount", True)]


def test_path_shows_the_sql(folder: Path, store: Path) -> None:
    ingest(folder, store)
    done = lineage("path", "raw_orders.amount", "revenue.total", "-s", store)
    assert done.code == 0
    assert "models/staging/orders.sql:1:43" in done.out
    assert "sum(o.cents) AS total" in done.out


def test_literals_are_not_stored(tmp_path: Path, store: Path) -> None:
    (tmp_path / "v.sql").write_text("CREATE VIEW v AS SELECT a FROM t WHERE b = 'secret'", encoding="utf-8")
    ingest(tmp_path / "v.sql", store)
    assert b"secret" not in b"".join(path.read_bytes() for path in store.parent.glob("graph.db*"))


def test_a_changed_file_replaces_what_it_said(folder: Path, store: Path) -> None:
    ingest(folder, store, "--observed-at", "2026-01-01")
    path = folder / "staging/orders.sql"
    path.write_text(FILES["staging/orders.sql"].replace("amount * 100", "total_cents"), encoding="utf-8")
    ingest(folder, store, "--observed-at", "2026-02-01")
    assert lineage("impact", "raw_orders.amount", "-s", store, "-f", "json").json["columns"] == []
    then = lineage("impact", "raw_orders.amount", "-s", store, "--as-of", "2026-01-15", "-f", "json").json
    assert [column["column"] for column in then["columns"]] == ["cents", "total"]


def test_what_is_asked_of_a_time_before_the_first_ingest_is_said_to_be_unknown(folder: Path, store: Path) -> None:
    ingest(folder, store, "--observed-at", "2026-02-01")
    for question in (["impact", "raw_orders.amount"], ["root-cause", "revenue.total"], ["path", "users", "revenue"]):
        then = lineage(*question, "-s", store, "--as-of", "2026-01-31")
        assert then.code == 0
        assert "the graph has nothing about" in then.err
        assert "before 2026-02-01 00:00 UTC" in then.err
        assert "knows nothing" not in lineage(*question, "-s", store, "--as-of", "2026-02-02").err


def test_a_column_that_is_gone_is_said_to_be(folder: Path, store: Path) -> None:
    ingest(folder, store, "--observed-at", "2026-01-01")
    for path, text in FILES.items():
        (folder / path).write_text(text.replace("cents", "pence"), encoding="utf-8")
    ingest(folder, store, "--observed-at", "2026-02-01")
    name = "orders.cents"
    for question in ("impact", "root-cause"):
        assert "is gone since 2026-02-01 00:00 UTC" in lineage(question, name, "-s", store).err
        assert "is gone" not in lineage(question, name, "-s", store, "--as-of", "2026-01-15").err
        assert "is gone" not in lineage(question, "orders.pence", "-s", store).err
    assert lineage("root-cause", name, "-s", store, "-f", "json").json["columns"] == []
    reached = lineage("root-cause", name, "-s", store, "--as-of", "2026-01-15", "-f", "json").json["columns"]
    assert {one["column"] for one in reached} == {"amount", "test"}
    then = lineage("path", "raw_orders.amount", name, "-s", store, "--as-of", "2026-01-15").out
    assert "its SQL has been replaced since" in then
    assert "pence" not in then


def test_a_table_whose_file_was_deleted_is_said_to_have_no_maker(folder: Path, store: Path) -> None:
    questions = (["root-cause", "revenue.total"], ["path", "users.country", "revenue"], ["show", "revenue"])
    ingest(folder, store, "--observed-at", "2026-01-01")
    assert not any("retired" in lineage(*question, "-s", store).err for question in questions)
    (folder / "mart/revenue.sql").unlink()
    ingest(folder, store, "--observed-at", "2026-02-01")
    for question in questions:
        assert "what made revenue is retired since 2026-02-01 00:00 UTC" in lineage(*question, "-s", store).err
    for name in ("orders", "users"):  # one is made as before, of the other nothing was known to make it
        assert "retired" not in lineage("root-cause", name, "-s", store).err


def test_a_path_that_leads_the_other_way_is_offered(folder: Path, store: Path) -> None:
    ingest(folder, store)
    done = lineage("path", "revenue.total", "raw_orders.amount", "-s", store)
    assert "there is one the other way: lineage path raw_orders.amount revenue.total" in " ".join(done.err.split())
    assert "the other way" not in lineage("path", "raw_orders.amount", "users.country", "-s", store).err


def test_a_time_of_observation_that_has_not_come_is_said(folder: Path, store: Path) -> None:
    for year, is_said in (("2026", False), ("2093", True)):
        done = lineage("ingest", "sql", folder, "-d", "postgres", "-s", store, "--observed-at", f"{year}-01-01")
        assert (f"{year}-01-01 00:00 is in the future" in " ".join((done.out + done.err).split())) == is_said


def test_one_of_a_thing_is_said_in_the_singular(tmp_path: Path, store: Path) -> None:
    file = tmp_path / "v.sql"
    file.write_text("CREATE VIEW v AS SELECT a FROM t", encoding="utf-8")
    done = lineage("ingest", "sql", file, "-d", "postgres", "-s", store)
    assert "1 file, 1 statement: 1 resolved; 0 diagnostics" in done.out
    assert "2 columns, 1 edge (1 new)" in done.out
    assert "1 hop, CONTRIBUTES" in lineage("path", "t.a", "v.a", "-s", store).out


def test_names_are_found_in_part_and_offered_when_wrong(folder: Path, store: Path) -> None:
    ingest(folder, store, "--default-schema", "shop")
    assert lineage("impact", "RAW_ORDERS.Amount", "-s", store).code == 0
    wrong = lineage("impact", "raw_orders.amout", "-s", store)
    assert wrong.code == 2
    assert "amount" in wrong.err


def test_bad_files_cost_themselves_only(folder: Path, store: Path) -> None:
    (folder / "empty.sql").write_text(" \n", encoding="utf-8")
    (folder / "prose.sql").write_text("Dear team, the figures are ready.", encoding="utf-8")
    (folder / "latin.sql").write_bytes("CREATE VIEW caf\u00e9 AS SELECT a FROM t".encode("latin-1"))
    (folder / "deep.sql").write_text(f"CREATE VIEW d AS SELECT {'(' * 5000}a{')' * 5000} FROM t", encoding="utf-8")
    done = lineage("ingest", "sql", folder, "-d", "postgres", "-s", store)
    assert done.code == 1
    for line in (
        "models/empty.sql: warning EMPTY_INPUT: models/empty.sql is empty",
        "models/prose.sql: error NOT_SQL at 1:",
        "models/latin.sql: error INVALID_ENCODING at 1:16: models/latin.sql is not valid UTF-8: byte 0xe9 at offset 15",
        "models/deep.sql: error NESTING_TOO_DEEP at 1:1: the statement nests 5,000 levels deep",
    ):
        assert line in done.err
    assert lineage("impact", "raw_orders.amount", "-s", store).code == 0


def test_a_large_statement_is_kept_at_table_level(tmp_path: Path, store: Path) -> None:
    rows = ",".join(["(1, 'a value that fills the statement up')"] * 120_000)
    (tmp_path / "big.sql").write_text(
        f"INSERT INTO big VALUES {rows};\nCREATE VIEW v AS SELECT a FROM t", encoding="utf-8"
    )
    done = lineage("ingest", "sql", tmp_path / "big.sql", "-d", "postgres", "-s", store, "-f", "json")
    assert done.code == 1
    assert [found["code"] for found in done.json["found"]] == ["STATEMENT_TOO_LARGE"]
    assert (done.json["tables_only"], done.json["resolved"]) == (1, 1)


def test_a_catalog_that_contradicts_the_sql(tmp_path: Path, folder: Path, store: Path) -> None:
    schema = tmp_path / "schema.sql"
    schema.write_text("CREATE TABLE raw_orders (id int, user_id int, amounts int, test boolean)", encoding="utf-8")
    done = lineage("ingest", "sql", folder, "-d", "postgres", "-s", store, "-c", schema)
    assert done.code == 0
    assert "UNKNOWN_COLUMN" in done.err
    assert "did you mean `amounts`?" in done.err
    assert "orders.cents" in lineage("impact", "raw_orders.amount", "-s", store).out


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [("schema.json", '{"t": ', "not JSON"), ("schema.sql", "CREATE TABLE t (a", "schema.sql")],
)
def test_a_catalog_that_cannot_be_read_is_wrong_use(
    tmp_path: Path, folder: Path, store: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    done = lineage("ingest", "sql", folder, "-d", "postgres", "-s", store, "-c", tmp_path / name)
    assert done.code == 2
    assert "".join(message.split()) in "".join(done.err.replace("│", "").split())


def test_no_sql_files_is_wrong_use(tmp_path: Path, store: Path) -> None:
    (tmp_path / "none").mkdir()
    for path in (tmp_path / "none", tmp_path / "missing"):
        assert lineage("ingest", "sql", path, "-d", "postgres", "-s", store).code == 2


def test_a_store_that_cannot_be_written_ends_with_3(folder: Path, tmp_path: Path) -> None:
    store = "/proc/graph.db"  # nobody may write there, not even root
    done = lineage("ingest", "sql", folder, "-d", "postgres", "-s", store)
    assert done.code == 3
    assert store in done.err


def test_a_file_that_is_no_store_ends_with_3(folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "graph.db"
    store.write_text("this is a letter", encoding="utf-8")
    assert lineage("ingest", "sql", folder, "-d", "postgres", "-s", store).code == 3


def test_asking_a_store_that_is_not_there_ends_with_3(store: Path) -> None:
    done = lineage("impact", "t.a", "-s", store)
    assert done.code == 3
    assert str(store) in done.err
    assert not store.exists()


def test_prune_leaves_definitions_alone(folder: Path, store: Path) -> None:
    ingest(folder, store, "--observed-at", "2020-01-01")
    done = lineage("prune", "--older-than", "90d", "-s", store)
    assert (done.code, done.out.split(" last")[0]) == (0, "retired 0 edges")
    assert lineage("impact", "raw_orders.amount", "-s", store, "-f", "json").json["columns"]
    assert lineage("prune", "--older-than", "soon", "-s", store).code == 2


def test_what_limits_an_answer_is_said_as_it_is(tmp_path: Path) -> None:
    file, store = tmp_path / "v.sql", tmp_path / "graph.db"
    file.write_text(
        "create table shop.orders (id int, amount int); create table shop.lines (order_id int);"
        "create view mart.w as select o.id, o.amout from shop.orders o;"
        "create view mart.v as select o.id from shop.orders o join shop.lines l on l.order_id = o.amount;"
    )
    lineage("ingest", "sql", file, "-d", "postgres", "-s", store)
    done = lineage("impact", "shop.orders.amount", "--max-references", 0, "-s", store)
    assert "possibly affected, as some columns are not resolved (lineage diagnostics): mart.w" in done.err
    assert "incomplete" not in done.err
    assert "--max-references 0: at least 1 more columns lie beyond" in done.err


def test_this_of_a_model_is_the_table_of_its_file(tmp_path: Path) -> None:
    file, store = tmp_path / "m.sql", tmp_path / "graph.db"
    file.write_text("select id from raw where at > (select max(at) from {{ this }})")
    lineage("ingest", "sql", file, "-d", "snowflake", "-s", store)
    [job] = lineage("jobs", "-s", store, "--json").json
    assert (job["writes"], job["reads"]) == (["M"], ["M", "RAW"])
