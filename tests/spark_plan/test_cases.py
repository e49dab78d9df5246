"""Plans of PySpark code, as data: every edge that the code's write has."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from lineage.model.diagnostics import Severity
from tests.spark_plan.conftest import SparkProcess
from tests.spark_plan.lineage_text import edges_of

pytestmark = pytest.mark.xdist_group("spark_plan")


class CodeCase(NamedTuple):
    """A piece of code, the edges of its last write, and the codes of its diagnostics: `! CODE`, an info `? CODE`."""

    name: str
    code: str
    edges: list[str]
    diagnostics: list[str]


def read_cases() -> list[CodeCase]:
    found = []
    for path in sorted(Path(__file__).with_name("cases").glob("*.case")):
        for text in path.read_text().split("=== ")[1:]:
            head, _, expected = text.partition("\n---\n")
            title, _, code = head.partition("\n")
            lines = [line for line in expected.splitlines() if line]
            edges = [line for line in lines if line[:2] not in ("! ", "? ")]
            found.append(CodeCase(f"{path.stem}: {title}", code, edges, [one for one in lines if one not in edges]))
    return found


CASES = read_cases()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_case(spark: SparkProcess, case: CodeCase) -> None:
    check_case(spark, case)


def check_case(spark: SparkProcess, case: CodeCase) -> None:
    executions = spark.lineage(case.name.replace(" ", "_").replace(":", "")[:40], case.code)
    write = [one for execution in executions for one in execution.writes][-1]
    assert edges_of(write) == sorted(case.edges), case.name
    found = [f"{'?' if one.severity is Severity.INFO else '!'} {one.code}" for one in write.diagnostics]
    assert found == case.diagnostics
