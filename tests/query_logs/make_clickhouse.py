"""Writes the samples of ClickHouse anew, with a real ClickHouse: `python -m tests.query_logs.make_clickhouse`.

It needs the package chdb, which is large and no dependency: the samples are kept.
Expected rows are written by hand beside them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "data" / "query_logs" / "forms" / "clickhouse"
FORMATS = {
    "JSONEachRow.jsonl": "JSONEachRow",
    "JSON.json": "JSON",
    "JSONCompact.json": "JSONCompact",
    "JSONCompactEachRow.jsonl": "JSONCompactEachRow",
    "JSONCompactEachRowWithNamesAndTypes.jsonl": "JSONCompactEachRowWithNamesAndTypes",
    "TSV.tsv": "TSV",
    "TSVWithNames.tsv": "TSVWithNames",
    "CSV.csv": "CSV",
    "CSVWithNamesAndTypes.csv": "CSVWithNamesAndTypes",
    "parquet.parquet": "Parquet",
}
STATEMENTS = (
    "CREATE DATABASE shop",
    "CREATE TABLE shop.orders (day Date, amount Int64, note String) ENGINE = MergeTree ORDER BY day",
    "CREATE TABLE shop.daily (day Date, total Int64) ENGINE = MergeTree ORDER BY day",
    "USE shop",
    'INSERT INTO shop.daily\nSELECT day, sum(amount) -- "a\tb"\n'
    "FROM orders WHERE note != 'it\\'s, \\\\N' GROUP BY day",
    "SELECT nothing FROM orders",
)
_HEAVY = "'^(ProfileEvents|Settings|used_.*|stack_trace_.*|thread_ids|log_comment|.*privileges)$'"


def main() -> None:
    from chdb.session import Session  # type: ignore[import-not-found]  # noqa: PLC0415

    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "config.xml"
        settings.write_text(
            "<clickhouse><query_log><database>system</database><table>query_log</table></query_log></clickhouse>"
        )
        session = Session(f"{folder}/data?config-file={settings}")
        session.query("SET log_queries = 1")
        for statement in STATEMENTS:
            try:
                session.query(statement)
            except RuntimeError as error:
                print(error)
        session.query("SYSTEM FLUSH LOGS")
        session.query("CREATE TABLE shop.log ENGINE = MergeTree ORDER BY event_time AS SELECT * FROM system.query_log")
        for name, form in FORMATS.items():
            found = session.query(
                f"SELECT * EXCEPT ({_HEAVY}) FROM shop.log WHERE query LIKE '%shop%' AND query NOT LIKE '%log%' "
                "OR query LIKE '%nothing%' ORDER BY event_time_microseconds, type",
                form,
            )
            (FOLDER / name).write_bytes(found.bytes())


if __name__ == "__main__":
    main()
