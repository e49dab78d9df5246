"""The 65 MIMIC-IV concepts against what PostgreSQL itself says of them."""

from __future__ import annotations

import random
from functools import cache

import pytest

from lineage import Catalog, extract_script
from lineage.model.statement import StatementLineage
from tests.truth.compare import DEMO, differences, read_truth

CONCEPTS = DEMO / "concepts"
ORDERS = ("as listed", "reversed", "shuffled 1", "shuffled 2", "shuffled 3")


@cache
def concepts(order: str) -> dict[str, StatementLineage]:
    files = sorted(CONCEPTS.glob("*/*.sql"))
    if order == "reversed":
        files.reverse()
    elif order.startswith("shuffled"):
        random.Random(order).shuffle(files)
    texts = {file.relative_to(CONCEPTS).as_posix(): file.read_text(encoding="utf-8") for file in files}
    catalog = Catalog.from_ddl(DEMO / "create.sql", "postgres")
    statements = extract_script(texts, "postgres", catalog)
    return {s.source or "": s for s in statements if s.operation == "CREATE_TABLE_AS"}


@pytest.mark.parametrize("order", ORDERS)
def test_every_statement_is_resolved_in_any_order(order: str) -> None:
    found = concepts(order)
    assert len(found) == 65
    assert {name: s.reason for name, s in found.items() if s.completeness != "full"} == {}


@pytest.mark.parametrize("order", ORDERS)
def test_every_statement_is_exact_in_any_order(order: str) -> None:
    found, truth = concepts(order), read_truth("mimic_iv")
    assert set(found) == set(truth)
    wrong = {name: wrong for name, columns in truth.items() if (wrong := differences(found[name], columns))}
    assert wrong == {}
