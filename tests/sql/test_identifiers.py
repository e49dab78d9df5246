"""Names are folded once and kept: each as it was written, and never too many of them."""

import sqlglot
from sqlglot import exp

from lineage.model.dialects import dialect_named
from lineage.model.spelling import as_written
from lineage.sql.resolve.identifiers import identifiers_of


def _identifier(written: str, dialect: str) -> exp.Expr:
    found = sqlglot.parse_one(f"SELECT {written}", dialect=dialect).find(exp.Identifier)
    assert found is not None
    return found


def test_each_spelling_of_a_kept_name_stays() -> None:
    identifiers = identifiers_of(dialect_named("tsql"))
    for written in ("Amount", "AMOUNT", "amount", "Amount"):
        name = identifiers.column(_identifier(written, "tsql"))
        assert name == "amount"
        assert as_written(name) == written


def test_a_quoted_name_is_not_the_kept_one() -> None:
    identifiers = identifiers_of(dialect_named("snowflake"))
    names = [identifiers.column(_identifier(written, "snowflake")) for written in ("Id", '"Id"', "Id", '"Id"')]
    assert names == ["ID", "Id", "ID", "Id"]


def test_more_names_than_are_kept() -> None:
    identifiers = identifiers_of(dialect_named("postgres"))
    names = [identifiers.column(exp.to_identifier(f"Name_{number}")) for number in range(25_000)]
    assert names == [f"name_{number}" for number in range(25_000)]
    assert len(identifiers.unquoted) <= 10_000
