from __future__ import annotations

from typing import Any

import pytest

from lineage import Catalog, extract_script
from lineage.model.diagnostics import Severity
from tests.sql.case_files import Case, read_cases

CASES = list(read_cases())
WORST = ("full", "partial", "tables", "none")


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_case(case: Case) -> None:
    options: dict[str, Any] = {k: v for k, v in case.options.items() if k.startswith("default_")}
    if "set_operations" in case.options:
        options["set_operation_references"] = case.options["set_operations"]
    catalog = Catalog.from_dict(case.schemas, case.dialect)
    statements = extract_script(case.sql, case.dialect, catalog, **options)

    assert sorted(str(edge) for s in statements for edge in s.edges) == sorted(case.edges)
    if case.rows is not None:
        assert sorted(str(one) for s in statements for one in s.row_references) == sorted(case.rows)
    found = [str(d.code) for s in statements for d in s.diagnostics if d.severity is not Severity.INFO]
    assert sorted(found) == sorted(case.diagnostics)
    assert max((str(s.completeness) for s in statements), key=WORST.index) == case.expected.get("completeness", "full")
    last = statements[-1]
    if "columns" in case.expected:
        assert last.output_columns == [c.strip() for c in case.expected["columns"].split(",")]
    if "sources" in case.expected:
        assert last.sources == [c.strip() for c in case.expected["sources"].split(",")]
    if "target" in case.expected:
        assert last.target == case.expected["target"]
    if "operation" in case.expected:
        assert last.operation == case.expected["operation"]


def test_every_edge_has_a_place() -> None:
    """The text at an edge's place names the column, or is the star or whole row that stands for it."""
    for case in CASES:
        catalog = Catalog.from_dict(case.schemas, case.dialect)
        for statement in extract_script(case.sql, case.dialect, catalog):
            for edge in statement.edges:
                assert edge.span is not None, (case.name, str(edge))
                assert case.sql[edge.span.start : edge.span.end].strip(), (case.name, str(edge))
                assert statement.span is not None
                within = statement.span.start <= edge.span.start < edge.span.end <= statement.span.end
                assert within, (case.name, str(edge))
