"""What an edit beside a function changes: nothing of the function's own column, if the function is known."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from lineage.sql.canonical.readers.function_kinds import FunctionKind, FunctionKinds
from lineage_ingest import RevisionOptions, diff_revisions
from lineage_ingest.diff.reports.wording import what_else
from lineage_ingest.options import OptionError
from tests.diff.function_catalogue import EXPECTED, changed_beside, duckdb_catalogue

LISTED = tomllib.loads(
    files("lineage.sql.canonical.readers").joinpath("function_kinds.toml").read_text(encoding="utf-8")
)
CALLS = ("a", "a, a", "a, a, a", "a, 1, 1, a", "", "a, 'x'")


@pytest.mark.parametrize("dialect", sorted(LISTED["deterministic"].keys() - {"any"}))
def test_an_edit_beside_a_listed_function_changes_only_itself(dialect: str) -> None:
    names = sorted({*LISTED["deterministic"][dialect].split(), *LISTED["deterministic"]["any"].split()})
    for name in names[::15]:
        changed = [changed_beside(f"{name}({arguments})", dialect) for arguments in CALLS]
        assert {"y"} in changed, name


@pytest.mark.parametrize(
    ("dialect", "expression", "changed"),
    [
        ("postgres", "age(a)", "y"),
        ("postgres", "array_to_string(a, ',') || to_jsonb(a)", "y"),
        ("postgres", "pg_catalog.lower(a)", "y"),
        ("postgres", "random()", "y"),
        ("postgres", "my_function(a)", "y"),
        ("snowflake", "try_to_number(to_varchar(parse_json(a):k))", "y"),
        ("bigquery", "net.host(a)", "y"),
        ("bigquery", "farm_fingerprint(safe.substr(a, 1)) + unix_seconds(a)", "y"),
        ("duckdb", "list_transform(a, lambda e: e + 1)", "y"),
        ("spark", "aggregate(a, 0, (s, e) -> s + e)", "y"),
        ("clickhouse", "toStartOfMonth(a)", "y"),
    ],
)
def test_an_edit_beside_an_expression(dialect: str, expression: str, changed: str) -> None:
    assert changed_beside(expression, dialect) == set(changed.split())


def test_the_kinds_are_those_of_duckdb() -> None:
    kinds = FunctionKinds("duckdb")
    found = {name: (what, kinds.of_name(name)) for name, what, call in duckdb_catalogue() if call}
    assert not {name for name, (what, kind) in found.items() if kind not in (*EXPECTED[what], FunctionKind.UNKNOWN)}
    unknown = {name for name, (_, kind) in found.items() if kind is FunctionKind.UNKNOWN and "collate" not in name}
    assert len(unknown) < 30  # what belongs to the engine itself, such as parse_duckdb_log_message


@pytest.mark.parametrize(
    ("content", "said"), [("[deterministic]\nany = 1", "[deterministic] any"), ("[other]", "[other]")]
)
def test_a_file_with_another_format(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "f.toml").write_text(content)
    for side in ("base", "head"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "v.sql").write_text("create view v as select 1 as a")
    with pytest.raises(OptionError, match=re.escape(said)):
        diff_revisions(tmp_path / "base", tmp_path / "head", options=RevisionOptions(functions=(tmp_path / "f.toml",)))


def test_an_unknown_function_is_named_and_can_be_declared(tmp_path: Path) -> None:
    (tmp_path / "f.toml").write_text('[deterministic]\nsnowflake = ["to_region"]\n')
    for side, country in (("base", "country"), ("head", "upper(country) as country")):
        (tmp_path / side).mkdir()
        amount = "amount" if side == "base" else "amount / 100"
        (tmp_path / side / "a.sql").write_text(f"create view a as select id, {country} from raw.t")
        (tmp_path / side / "b.sql").write_text(f"create view b as select id, country, {amount} as amount from raw.t")
        for name in "ab":
            view = f"create view v_{name} as select id, to_region(country) as region from {name}"
            (tmp_path / side / f"v_{name}.sql").write_text(view)
    options = RevisionOptions(dialect="snowflake")
    found = diff_revisions(tmp_path / "base", tmp_path / "head", options=options)
    assert found.tables["V_A"].clauses == ("unknown function to_region",)
    assert "V_B" not in {one.key for one in found.affected}  # the function does not read what is edited
    assert any("to_region: unknown" in line and "--functions" in line for line in what_else(found))
    declared = replace(options, functions=(tmp_path / "f.toml",))
    declared_rows = diff_revisions(tmp_path / "base", tmp_path / "head", options=declared).tables["V_A"]
    assert [column.name for column in declared_rows.columns] == ["REGION"]
