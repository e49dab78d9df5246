"""Delimited text as products unload it: what is NULL, what is quoted, what is escaped, which delimiter."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from lineage_ingest.query_log import SOURCES, read_log, source_named
from lineage_ingest.query_log.reading.source_detection import detect_source
from tests.query_logs.samples import expected_rows, normalised_rows, sample

GENERIC = source_named("generic")
Row = tuple[object, object, object]


def read(path: Path, text: str | bytes) -> list[Row]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    rows = normalised_rows(GENERIC, read_log(GENERIC, [path]))
    return [(row.get("query_text", row.get("problem")), row.get("user"), row.get("default_schema")) for row in rows]


HEADER = "query_text,user,default_schema\n"
FORMS = {
    "nothing": (HEADER + "SELECT 1,ann,\n", [("SELECT 1", "ann", None)]),
    "NULL and backslash N without quotes": (
        HEADER + '"SELECT 1",NULL,\\N\n"SELECT 2",\\N,NULL\n',
        [("SELECT 1", None, None), ("SELECT 2", None, None)],
    ),
    "the same in quotes is text": (HEADER + '"SELECT 1","NULL","\\N"\n', [("SELECT 1", "NULL", "\\N")]),
    "the same within a text is text": (
        HEADER + '"SELECT a,NULL,\\N,b\n\\N\nNULL\n,NULL",ann,x\n',
        [("SELECT a,NULL,\\N,b\n\\N\nNULL\n,NULL", "ann", "x")],
    ),
    "a text that only begins so": (HEADER + "SELECT 1,NULLIE,\\NO\n", [("SELECT 1", "NULLIE", "\\NO")]),
    "at the beginning of a row, by CRLF": (
        "user,query_text,default_schema\r\n\\N,SELECT 1,NULL\r\n",
        [("SELECT 1", None, None)],
    ),
    "Snowflake's default unload": (
        HEADER + "SELECT a\\, 'it\\\\'s' \\\nFROM t WHERE x = \"y\",\\N,PUBLIC\n",
        [("SELECT a, 'it\\'s' \nFROM t WHERE x = \"y\"", None, "PUBLIC")],
    ),
    "PostgreSQL's COPY, ClickHouse's TSV": (
        "query_text\tuser\tdefault_schema\nSELECT\\ta,\\n'\\\\N', \"b\"\t\\N\t\\\\N\n",
        [("SELECT\ta,\n'\\N', \"b\"", None, "\\N")],
    ),
    "a TSV without escapes": (
        "query_text\tuser\tdefault_schema\nSELECT '\\d+', \"b\", 'c'\tann\tNULL\n",
        [("SELECT '\\d+', \"b\", 'c'", "ann", None)],
    ),
    "a TSV with quotes": (
        'query_text\tuser\tdefault_schema\n"SELECT\t""a""\nFROM t"\tann\t\n',
        [('SELECT\t"a"\nFROM t', "ann", None)],
    ),
    "Redshift's UNLOAD, without escapes": (
        "user|query_text|default_schema\nann|SELECT a || '|' || b FROM t|public\n",
        [("SELECT a || '|' || b FROM t", "ann", "public")],
    ),
    "Redshift's UNLOAD with ADDQUOTES ESCAPE": (
        'user|query_text|default_schema\n"ann"|"SELECT \\"a\\" || b FROM t"|"x"\n',
        [('SELECT "a" || b FROM t', "ann", "x")],
    ),
    "Redshift's UNLOAD with ESCAPE": (
        "user|query_text|default_schema\nann|SELECT a \\|\\| b FROM t|x\n",
        [("SELECT a || b FROM t", "ann", "x")],
    ),
    "Spark's CSV": (
        HEADER + '"SELECT \\"a\\", \'\\d\' FROM t",ann,x\n',
        [("SELECT \"a\", '\\d' FROM t", "ann", "x")],
    ),
    "a quoted text that ends in a backslash": (
        HEADER + '"SELECT \'\\","ann","x"\n"SELECT ""a""","bo","y"\n',
        [("SELECT '\\", "ann", "x"), ('SELECT "a"', "bo", "y")],
    ),
    "files behind each other": (
        HEADER + "SELECT 1,ann,x\n" + HEADER + "SELECT 2,ann,x\n",
        [("SELECT 1", "ann", "x"), ("SELECT 2", "ann", "x")],
    ),
    "names and types": (
        '"query_text","user","default_schema"\n"String","LowCardinality(String)","String"\n"SELECT 1","a","b"\n',
        [("SELECT 1", "a", "b")],
    ),
    "names in capitals, quoted, with blanks": (
        '"QUERY_TEXT", "User" ,DEFAULT_schema\nSELECT 1,ann,x\n',
        [("SELECT 1", "ann", "x")],
    ),
    "Hive's delimiter": ("query_text\x01user\x01default_schema\nSELECT 1,2\x01\\N\x01x\n", [("SELECT 1,2", None, "x")]),
    "a broken row costs itself": (
        HEADER + "SELECT 1,ann,x\nSELECT 2,3,4,5\nSELECT 6,ann,x\n",
        [("SELECT 1", "ann", "x"), ("unreadable record", None, None), ("SELECT 6", "ann", "x")],
    ),
}


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("form", FORMS)
def test_a_form(form: str, encoding: str, ends: str, tmp_path: Path) -> None:
    text, expected = FORMS[form]
    written = text.replace("\r\n", "\n").replace("\n", ends)
    found = read(tmp_path / "log.txt", written.encode(encoding))
    assert [tuple(str(v).replace("\r\n", "\n") if v else v for v in row) for row in found] == expected


def test_lines_that_end_with_a_carriage_return_alone(tmp_path: Path) -> None:
    text = FORMS["nothing"][0].replace("\n", "\r")
    assert read(tmp_path / "log.csv", text) == [("SELECT 1", "ann", None)]


def test_a_file_of_many_rows_is_of_one_form(tmp_path: Path) -> None:
    """What shows the form may come late: within the first megabyte all of it is looked at."""
    rows = "SELECT 1,ann,x\n" * 40_000 + "SELECT a\\, b,ann,\\N\n"
    found = read(tmp_path / "log.csv", HEADER + rows)
    assert (len(found), found[-1]) == (40_001, ("SELECT a, b", "ann", None))


def test_other_names_of_columns_are_read(tmp_path: Path) -> None:
    databricks = source_named("databricks")
    file = tmp_path / "history.csv"
    file.write_text("query_id,Query_Text,query_start_time_ms,user_name\nq1,SELECT 1,1772359200000,ann\n")
    (row,) = normalised_rows(databricks, read_log(databricks, [file]))
    assert (row["query_text"], row["statement_id"], row["user"]) == ("SELECT 1", "q1", "ann")
    assert str(row["started_at"]).startswith("2026-03-01")
    file.write_text("user_name,statement_text,executed_by\nother,SELECT 1,ann\n")
    assert normalised_rows(databricks, read_log(databricks, [file]))[0]["user"] == "ann"


def test_files_behind_each_other_each_have_their_header(tmp_path: Path) -> None:
    files = (
        "\ufeff" + HEADER + "SELECT 1,ann,a\r\n",
        "\ufeff" + HEADER.upper() + "SELECT 2,ann,a\n",
        "user,query_text,default_schema\nbob,SELECT 3,b\n",
        "query_text,user\nSELECT 4,eve\n",
    )
    rows = [("SELECT 1", "ann", "a"), ("SELECT 2", "ann", "a"), ("SELECT 3", "bob", "b"), ("SELECT 4", "eve", None)]
    assert read(tmp_path / "log.csv", "".join(files)) == rows


def test_the_csvlog_that_was_loaded_into_a_table_has_a_header(tmp_path: Path) -> None:
    source, file = sample("postgres_csv")
    lines = file.read_text()
    names = ",".join(source.reading.headers[-1])
    table = list(csv.reader(io.StringIO(lines, newline="")))
    width = len(table[0])
    headed, turned = tmp_path / "headed.csv", tmp_path / "turned.csv"
    headed.write_text(",".join(names.split(",")[:width]) + "\n" + lines)
    with turned.open("w", newline="") as out:  # in another order, with a column more
        write = csv.writer(out)
        write.writerows([*row[::-1], "x"] for row in [names.split(",")[:width], *table])
    for copy in (headed, turned):
        assert detect_source([copy], SOURCES).name == "postgres_csv"
        assert normalised_rows(source, read_log(source, [copy])) == expected_rows("postgres_csv")
