"""What no rule reads is never `full`: each rule is switched off in turn, and the statements that need it say so."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp

from lineage import Catalog, extract_script
from lineage.model.dialects import dialect_named
from lineage.model.statement import Completeness, StatementLineage
from lineage.sql.budget import Budget
from lineage.sql.parse.statements import parse_statements
from lineage.sql.resolve.coverage.accounting import ARGUMENTS, CLAUSES, STATEMENTS, account, account_in_python
from lineage.sql.resolve.resolver import EXPRESSION_RULES, RELATION_RULES
from lineage.sql.resolve.statements import STATEMENT_RULES
from tests.sql.argument_reads import unread
from tests.sql.case_files import Case, read_cases

REGISTRIES: dict[str, dict[type[exp.Expr], Any]] = {
    "expression": EXPRESSION_RULES,
    "relation": RELATION_RULES,
    "statement": STATEMENT_RULES,
}
EACH = [(name, kind) for name, rules in REGISTRIES.items() for kind in rules]
DATA = Path(__file__).parents[1] / "data"
FILES = "dialect_fixtures/*/*.sql"
DIALECTS = {"sparksql": "spark"}
CASES = list(read_cases())
MAX_CASES = int(os.environ.get("LINEAGE_ACCOUNTING_CASES", "25"))
"""Cases per rule; those with the fewest statements first."""


def _resolve(case: Case) -> list[StatementLineage]:
    options: dict[str, Any] = {k: v for k, v in case.options.items() if k.startswith("default_")}
    if "set_operations" in case.options:
        options["set_operation_references"] = case.options["set_operations"]
    return extract_script(case.sql, case.dialect, Catalog.from_dict(case.schemas, case.dialect), **options)


@cache
def _cases_by_type() -> dict[type[exp.Expr], list[Case]]:
    found: dict[type[exp.Expr], list[Case]] = {}
    for case in sorted(CASES, key=lambda case: len(case.sql)):
        kinds: set[type[exp.Expr]] = set()
        for parsed in parse_statements(case.sql, dialect_named(case.dialect), Budget()):
            if parsed.tree is not None:
                kinds.update(map(type, parsed.tree.walk()))
        for kind in kinds:
            found.setdefault(kind, []).append(case)
    return found


def _facts(statement: StatementLineage) -> Any:
    """What a statement says, without how complete it is."""
    edges = sorted({(str(edge), edge.kind) for edge in statement.edges})
    return statement.operation, statement.target, sorted(statement.sources), statement.output_columns, edges


def _silent_changes(cases: list[Case], switched_off: Callable[[], Iterator[None]]) -> list[str]:
    """Return the cases in which a full statement states something else without the rule, and is still full."""
    before = [_resolve(case) for case in cases]
    silent = []
    for _ in switched_off():
        for case, expected in zip(cases, before, strict=True):
            found = _resolve(case)
            is_announced = any(each.completeness is not Completeness.FULL for each in found)
            if not is_announced and list(map(_facts, found)) != list(map(_facts, expected)):
                silent.append(case.name)
    return silent


def test_each_type_with_a_rule_lists_its_arguments() -> None:
    assert {kind for _, kind in EACH} <= ARGUMENTS.keys()
    for kind, listed in (*ARGUMENTS.items(), *CLAUSES.items()):
        # Inlined functions are lateral queries that keep the joins behind the call.
        ours = {"temporary", "joins", "laterals"} if kind is exp.Lateral else {"temporary"}
        assert listed <= kind.arg_types.keys() | ours, (kind, listed - kind.arg_types.keys())


@pytest.mark.parametrize(("registry", "kind"), EACH, ids=[f"{name}-{kind.__name__}" for name, kind in EACH])
def test_without_a_rule_what_needs_it_is_not_full(registry: str, kind: type[exp.Expr]) -> None:
    rules = REGISTRIES[registry]

    def switched_off() -> Iterator[None]:
        rule = rules.pop(kind)
        yield
        rules[kind] = rule

    cases = _cases_by_type().get(kind, [])
    assert cases, f"no case has a {kind.__name__}"
    assert _silent_changes(cases[:MAX_CASES], switched_off) == []


def test_rules_read_what_is_listed_as_read() -> None:
    files = [(path, DIALECTS.get(path.parent.name, path.parent.name)) for path in sorted(DATA.glob(FILES))]
    assert len(files) > 100
    assert unread(files[::6]) == []


class _Reports(list[str]):
    """Stands in for a resolution: keeps what is reported."""

    def report(self, _code: Any, _severity: Any, message: str, node: exp.Expr, **_: Any) -> None:
        self.append(f"{message} at {id(node)}")


def test_as_installed_and_in_python_the_same_is_unread() -> None:
    """A clause at any depth below a query or statement gets an argument that no rule lists."""

    def reports(way: Callable[[Any, exp.Expr], None], node: exp.Expr) -> list[str]:
        found = _Reports()
        way(found, node)
        return sorted(found)

    unread_clauses = 0
    for case in CASES[::5]:
        for parsed in parse_statements(case.sql, dialect_named(case.dialect), Budget()):
            whole = list(parsed.tree.walk()) if parsed.tree is not None else []
            for node in whole:
                if type(node) in STATEMENTS or (type(node) in RELATION_RULES and type(node) is not exp.Table):
                    assert reports(account, node) == reports(account_in_python, node)
            for clause in (node for node in whole if type(node) in CLAUSES):
                holder = clause.parent_select or clause
                clause.args["not_listed"] = exp.to_identifier("a")
                expected = reports(account_in_python, holder)
                assert reports(account, holder) == expected
                unread_clauses += bool(expected)
                del clause.args["not_listed"]
    assert unread_clauses > 100
