"""Which functions hide a value depends on the dialect, and users add their own."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from lineage import extract
from lineage.model.dialects import DIALECTS
from lineage.model.statement import Completeness
from lineage.sql.resolve.calls.functions import FunctionEffects, FunctionsFileError
from lineage.sql.resolve.transformation_codes import STEPS


def masks(expression: str, dialect: str, *files: Path) -> bool:
    [statement] = extract(f"SELECT {expression} AS x FROM users", dialect, functions=files)
    [edge] = statement.edges
    return edge.masking


@pytest.mark.parametrize(
    ("dialect", "expression"),
    [
        ("postgres", "digest(email, 'sha256')"),
        ("postgres", "anon.partial(email, 2, '***', 2)"),
        ("postgres", "pgp_sym_encrypt(email, 'key')"),
        ("redshift", "FUNC_SHA1(email)"),
        ("snowflake", "SHA2_HEX(email)"),
        ("snowflake", "HASH(email)"),
        ("bigquery", "FARM_FINGERPRINT(email)"),
        ("bigquery", "AEAD.ENCRYPT(KEYS.NEW_KEYSET('AEAD_AES_GCM_256'), email, 'x')"),
        ("bigquery", "DLP_DETERMINISTIC_ENCRYPT(DLP_KEY_CHAIN('k', b'x'), email, 'c')"),
        ("spark", "aes_encrypt(email, 'key')"),
        ("spark", "mask_first_n(email, 4)"),
        ("databricks", "ai_mask(email, array('person'))"),
        ("hive", "mask_show_last_n(email, 4)"),
        ("tsql", "HASHBYTES('SHA2_256', email)"),
        ("tsql", "ENCRYPTBYPASSPHRASE('p', email)"),
        ("oracle", "STANDARD_HASH(email, 'SHA256')"),
        ("oracle", "DBMS_CRYPTO.HASH(email, 2)"),
        ("mysql", "mask_inner(email, 1, 1)"),
        ("mysql", "AES_ENCRYPT(email, 'key')"),
        ("trino", "hmac_sha256(email, CAST('k' AS varbinary))"),
        ("clickhouse", "sipHash64(email)"),
        ("clickhouse", "cityHash64(email)"),
        ("duckdb", "md5_number(email)"),
        ("sqlite", "sha3(email)"),
    ],
)
def test_functions_that_hide(dialect: str, expression: str) -> None:
    assert masks(expression, dialect)


@pytest.mark.parametrize(
    ("dialect", "expression"),
    [
        ("postgres", "upper(email)"),
        ("postgres", "decrypt(email, 'key', 'aes')"),
        ("postgres", "partial(email)"),
        ("postgres", "password(email)"),  # MySQL's
        ("mysql", "digest(email)"),  # PostgreSQL's
    ],
)
def test_functions_that_do_not(dialect: str, expression: str) -> None:
    assert not masks(expression, dialect)


def test_a_file_adds_functions(tmp_path: Path) -> None:
    file = tmp_path / "functions.toml"
    file.write_text('[masking]\nany = ["hide"]\nmysql = ["veil"]\n[aggregates]\nnames = ["top_of"]\n', encoding="utf-8")
    assert masks("hide(email)", "postgres", file)
    assert not masks("hide(email)", "postgres")
    assert masks("veil(email)", "mysql", file)
    assert not masks("veil(email)", "postgres", file)
    assert str(STEPS[FunctionEffects.load("postgres", [file]).of_name("TOP_OF")].subtype) == "AGGREGATION"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[masking", "not TOML"),
        ('masking = ["vault"]', "masking: expected a section"),
        ("aggregates = 3", "aggregates: expected a section"),
        ("[mask]\nany = []", r"unknown section \[mask\]"),
        ('[masking]\nposgres = ["x"]', "posgres: unknown dialect"),
        ('[masking]\nany = "x"', "expected a list of function names"),
        ("[aggregates]\nnames = [1]", "expected a list of function names"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "functions.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FunctionsFileError, match=says):
        extract("SELECT 1", "postgres", functions=[file])


def test_every_dialect_loads() -> None:
    for dialect in DIALECTS:
        assert FunctionEffects.load(dialect).knows("md5")


_NOT_CALLED = {"count_star", "combine_aggr", "variant_group_object"}
"""What DuckDB lists beside its aggregates for its own use."""


def test_what_duckdb_calls_an_aggregate_is_one() -> None:
    listed = duckdb.execute("SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'")
    wrong = []
    for name in sorted({name for (name,) in listed.fetchall() if name.isidentifier()} - _NOT_CALLED):
        for arguments in ("a", "a, b", "a, 0.5", "a, b, 1"):
            [statement] = extract(f"SELECT {name}({arguments}) AS r FROM t", "duckdb")
            of_a = [edge for edge in statement.edges if (str(edge.source), str(edge.target)) == ("t.a", "r")]
            how = {str(edge.subtype) for edge in of_a}
            if statement.completeness is Completeness.FULL and how:
                wrong += [name] if how != {"AGGREGATION"} else []
                break
    assert wrong == []
