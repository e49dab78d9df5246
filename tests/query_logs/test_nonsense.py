"""No batch of nonsense raises, and none loses its rows' number where the source keeps every row."""

from __future__ import annotations

import datetime
import random
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage_ingest.query_log import LOG_SCHEMA, SOURCES, Source
from lineage_ingest.query_log.sources.source import CORRUPT, FILE, LINE, POSITION, SourceRows
from tests.query_logs.samples import sample

ROWS = 6


def columns_of_nonsense(pick: random.Random) -> Any:
    words = [
        None, "", " ", "\0", "SELECT 1", "{", "{}", '{"Event": 3}', '{"queryText": [1]}', "[]", "null", "1e400", "-1",
        "99999999999999999999", "NaN", "9999-12-31 23:59:59", "2026-02-30 10:00:00", "2026-02-01 10:00:00 XYZ",
        "duration: x ms", "statement: ", "duration: 1 ms  statement: SELECT 1", "QueryFinish", "Connect", "Query",
        "ERROR", "a@b on c using d", "DONE", "\ufeff", "é" * 300, '{"protoPayload": {"metadata": {"jobChange": 1}}}',
        '{"endTime": {}, "metadata": [], "createTime": []}', '[{"columns": [{"directSources": [1, {}]}]}]',
    ]  # fmt: skip
    kinds: list[tuple[Any, Any]] = [
        (pa.string(), lambda: pick.choice(words)),
        (pa.large_string(), lambda: pick.choice(words)),
        (pa.binary(), lambda: pick.choice([None, b"", b"\xff\xfe", b"SELECT 1", b"\x00"])),
        (pa.int64(), lambda: pick.choice([None, 0, -1, 2**62, 1, 1769947200])),
        (pa.uint64(), lambda: pick.choice([None, 0, 2**64 - 1])),
        (pa.int8(), lambda: pick.choice([None, 1, 2, -3])),
        (pa.float64(), lambda: pick.choice([None, 0.5, float("nan"), float("inf"), -1e300])),
        (pa.decimal128(38, 2), lambda: pick.choice([None, Decimal("1.25"), Decimal("-" + "9" * 30)])),
        (pa.bool_(), lambda: pick.choice([None, True, False])),
        (pa.date32(), lambda: pick.choice([None, datetime.date(1, 1, 1), datetime.date(2026, 2, 1)])),
        (pa.timestamp("ns"), lambda: pick.choice([None, 0, -(2**62), 2**62])),
        (pa.timestamp("s", "Europe/Vienna"), lambda: pick.choice([None, 0, 2**40, -(2**40), 1769947200])),
        (pa.null(), lambda: None),
        (pa.list_(pa.string()), lambda: pick.choice([None, [], ["x", None]])),
        (pa.struct([("reason", pa.string()), ("columns", pa.int64())]), lambda: pick.choice([None, {"reason": "x"}])),
        (pa.dictionary(pa.int32(), pa.string()), lambda: pick.choice([None, "QueryFinish", "x"])),
    ]
    kind, value = pick.choice(kinds)
    values = [value() for _ in range(ROWS)]
    if pa.types.is_dictionary(kind):
        return pa.array(values, pa.string()).dictionary_encode()
    return pa.array(values, kind)


def nonsense(source: Source, seed: int) -> Any:
    pick = random.Random(f"{source.name}/{seed}")
    names = [*source.columns, *pick.sample([FILE, POSITION, CORRUPT, LINE], pick.randrange(5))]
    kept = [name for name in dict.fromkeys(names) if pick.random() < 0.9] or [names[0]]
    return pa.record_batch({name: columns_of_nonsense(pick) for name in kept})


@pytest.mark.parametrize("name", SOURCES)
def test_columns_of_any_type_and_value_are_rows(name: str) -> None:
    source, _file = sample(name)
    for seed in range(60):
        batch = nonsense(source, seed)
        made = source.convert(SourceRows(batch, source))  # not `normalise`, which has a net below it
        assert made.schema.equals(LOG_SCHEMA), seed
        made.validate(full=True)
        assert made.num_rows <= 2 * ROWS, seed


@pytest.mark.parametrize("name", [name for name, source in SOURCES.items() if source.assembly])
def test_columns_of_any_type_and_value_are_assembled(name: str) -> None:
    source, _file = sample(name)
    for seed in range(60):
        table = source.assemble(pa.Table.from_batches([nonsense(source, seed)]))
        for batch in table.combine_chunks().to_batches():
            source.convert(SourceRows(batch, source)).validate(full=True)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=8), st.sampled_from(sorted(SOURCES)))
def test_any_text_is_a_row_or_none(values: list[str], name: str) -> None:
    source, _file = sample(name)
    column = pa.array([value.encode("utf-8", "surrogatepass") for value in values], pa.binary())
    batch = pa.record_batch(dict.fromkeys(source.columns, column))
    assert source.normalise(batch).schema.equals(LOG_SCHEMA)
    if source.assembly is not None:
        source.assemble(pa.Table.from_batches([batch]))
