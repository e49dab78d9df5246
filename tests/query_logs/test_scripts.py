"""Scripts with a row for themselves beside those of their statements: of a stream it is not known what is to come."""

from __future__ import annotations

import pyarrow as pa

from lineage_ingest.query_log.log_schema import log_batch
from lineage_ingest.query_log.scripts import count_scripts_once, mark_unknown


def ran(*rows: tuple[str | None, str | None, bool]) -> object:
    ids, parents, scripts = zip(*rows, strict=True)
    kinds = {"statement_id": pa.array(ids, pa.string()), "parent_id": pa.array(parents, pa.string())}
    return log_batch(len(rows), **kinds, is_script=pa.array(scripts), status="success")


LOG = [
    ran(("s1", None, True), ("s2", None, True), (None, None, True)),
    ran(("s1_0", "s1", False), ("s3", "s2", True), ("x", None, False)),
]


def test_a_script_counts_where_no_row_has_it_as_its_parent() -> None:
    found = [name for batch in count_scripts_once(LOG) for name in batch.column("statement_id").to_pylist()]
    assert found == ["s1_0", "x", None, "s3"]


def test_scripts_of_a_stream_are_left_out_with_a_reason() -> None:
    found = {row["statement_id"]: row["problem"] for batch in mark_unknown(LOG[1:]) for row in batch.to_pylist()}
    assert found == {"s1_0": None, "s3": "script whose statements have rows of their own", "x": None}
