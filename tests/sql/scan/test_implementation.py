from __future__ import annotations

import subprocess
import sys
import types

import pyarrow as pa
import pytest

from lineage.model.dialect import Folding
from lineage.model.dialects import DIALECTS, UnknownDialectError
from lineage.sql import scan
from lineage.sql.scan import arrays, implementation
from lineage.sql.scan.facts import dialect_features
from lineage.sql.scan.implementation import PYTHON, ScanEngine

TEXTS = ["SELECT 'é😀'; SELECT 2", None, "", "INSERT INTO t VALUES (1), (2)", "((a"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
def test_arrays_hold_what_the_functions_return(scanner: ScanEngine, kind: pa.DataType) -> None:
    texts = pa.array(TEXTS, kind)
    places = arrays.split_statements_array(texts, "postgres", scanner).to_pylist()
    assert places[0] == [{"start": 0, "end": 11}, {"start": 13, "end": 21}]
    assert places[1:3] == [None, []]
    masked = arrays.mask_literals_array(texts, "postgres", scanner)
    assert masked.type == kind
    assert masked.to_pylist()[:3] == ["SELECT '**'; SELECT ?", None, ""]
    prints = arrays.fingerprint_array(texts, "postgres", scanner)
    assert prints.to_pylist() == [None if text is None else PYTHON.fingerprint(text, "postgres") for text in TEXTS]
    assert arrays.nesting_depth_array(texts, "postgres", scanner).to_pylist() == [0, None, 0, 1, 2]


def test_arrays_may_be_slices_chunks_and_empty(scanner: ScanEngine) -> None:
    texts = pa.array(TEXTS)
    whole = arrays.fingerprint_array(texts, "ansi", scanner)
    assert arrays.fingerprint_array(texts[2:4], "ansi", scanner).equals(whole[2:4])
    chunks = arrays.fingerprint_array(pa.chunked_array([texts[:2], texts[2:]]), "ansi", scanner)
    assert chunks.num_chunks == 2
    assert chunks.combine_chunks().equals(whole)
    assert len(arrays.mask_literals_array(pa.array([], pa.string()), "ansi", scanner)) == 0


def test_an_array_of_something_else_is_refused(scanner: ScanEngine) -> None:
    with pytest.raises(TypeError, match=r"expected an array of string or large_string, got int64"):
        arrays.fingerprint_array(pa.array([1]), "ansi", scanner)


def test_an_unknown_dialect_is_refused() -> None:
    for call in (scan.split_statements, scan.mask_literals, scan.fingerprint, scan.normal_form, scan.nesting_depth):
        with pytest.raises(UnknownDialectError, match="did you mean 'postgres'"):
            call("SELECT 1", "postgre")


def test_dialects_are_known_by_their_aliases() -> None:
    assert scan.mask_literals("'x'", "MSSQL") == "'*'"


def test_the_python_engine_can_be_asked_for() -> None:
    program = "from lineage.sql.scan import engine; print(engine())"
    environment = {"LINEAGE_NATIVE": "0", "PATH": ""}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "python\n"


@pytest.mark.parametrize("module", [None, types.SimpleNamespace(FACTS="an older table")], ids=["absent", "older"])
def test_a_wheel_that_is_absent_or_older_is_not_used(monkeypatch: pytest.MonkeyPatch, module: object) -> None:
    monkeypatch.delenv("LINEAGE_NATIVE", raising=False)
    monkeypatch.setitem(sys.modules, "lineage_native", module)
    implementation.native_engine.cache_clear()
    implementation.chosen_engine.cache_clear()
    try:
        assert implementation.native_engine() is None
        assert implementation.chosen_engine().name == "python"
        assert "make native" in implementation.chosen_engine().reason
    finally:
        implementation.native_engine.cache_clear()
        implementation.chosen_engine.cache_clear()


def test_every_dialect_has_facts_and_they_agree_with_its_rules_of_case() -> None:
    for dialect in DIALECTS.values():
        keeps = Folding.KEEP in (dialect.table, dialect.column)
        assert keeps == ("keeps_case" in dialect_features(dialect.name)), dialect.name
