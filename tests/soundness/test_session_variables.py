"""Random scripts with session variables: each says what it says with the variables' queries in their places.

The second script needs no variable, so that what holds for sub-queries (the other suites) holds for variables.
"""

from __future__ import annotations

import random

import pytest

from lineage import extract_script

FORMS = {
    "mysql": (("SET @{v} = ({q})", "SELECT ({q}) INTO @{v}", "SELECT @{v} := ({q})", "DO @{v} := ({q})"), "@{v}"),
    "duckdb": (("SET VARIABLE {v} = ({q})",), "getvariable('{v}')"),
    "snowflake": (("SET {v} = ({q})",), "${v}"),
    "tsql": (("DECLARE @{v} INT = ({q})", "DECLARE @{v} INT; SELECT @{v} = ({q})"), "@{v}"),
    "bigquery": (("DECLARE {v} INT64 DEFAULT ({q})", "DECLARE {v} INT64; SET {v} = ({q})"), "{v}"),
    "databricks": (("DECLARE OR REPLACE VARIABLE {v} INT DEFAULT ({q})",), "{v}"),
    "postgres": (("SELECT set_config('my.{v}', ({q})::text, false)",), "current_setting('my.{v}')"),
}
WRITES = (
    "INSERT INTO {t} (c) SELECT x + {v} FROM s",
    "INSERT INTO {t} (c) SELECT x FROM s WHERE y > {v}",
    "CREATE TABLE {t} AS SELECT x, {v} AS c FROM s",
    "UPDATE {t} SET c = {v} WHERE d = 1",
    "INSERT INTO {t} (c) VALUES ({v})",
    "DELETE FROM {t} WHERE c = {v}",
)
QUERIES = ("SELECT max(a) FROM p", "SELECT b FROM q WHERE k = 1", "SELECT {v} + c FROM r", "SELECT max({v}) FROM o")


def _scripts(seed: int, dialect: str) -> tuple[str, str]:
    """Return a script with variables, and one that has their queries instead."""
    rng = random.Random(f"{dialect}/{seed}")
    forms, read = FORMS[dialect]
    with_variables, without = [], []
    values: dict[str, str] = {}
    for number in range(rng.randint(2, 6)):
        names = sorted(values)
        if not names or (rng.random() < 0.5 and len(names) < 4):
            name = f"v{number}"
            query = rng.choice(QUERIES if names else QUERIES[:2])
            used = rng.choice(names) if names else ""
            with_variables.append(rng.choice(forms).format(v=name, q=query.format(v=read.format(v=used))))
            values[name] = query.format(v=f"({values.get(used)})")
        else:
            used, write = rng.choice(names), rng.choice(WRITES)
            with_variables.append(write.format(t=f"t{number}", v=read.format(v=used)))
            without.append(write.format(t=f"t{number}", v=f"({values[used]})"))
    return "; ".join(with_variables), "; ".join(without)


def _reached(script: str, dialect: str) -> set[tuple[str, str]]:
    """Return which columns reach which tables; a sub-query decides nothing about rows that a variable would not."""
    found = set()
    for statement in extract_script(script, dialect):
        assert statement.completeness == "full", (script, statement.reason)
        if statement.target is not None:
            found |= {(str(edge.source).lower(), statement.target.lower()) for edge in statement.edges}
    return found


@pytest.mark.parametrize("dialect", FORMS)
def test_a_variable_is_what_its_query_is(dialect: str) -> None:
    for seed in range(100):
        script, plain = _scripts(seed, dialect)
        assert _reached(script, dialect) == _reached(plain, dialect), (seed, script)
