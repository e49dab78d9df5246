"""What docs/graphql.md shows is what the service answers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lineage.store import open_store
from tests.service.running import running

PAGE = Path(__file__).parents[2] / "docs" / "graphql.md"
LINEAGE = Path(sys.executable).with_name("lineage")


def test_the_examples_of_the_page(tmp_path: Path, subtests: pytest.Subtests) -> None:
    text = PAGE.read_text(encoding="utf-8")
    [sql] = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
    models = tmp_path / "shop" / "models"
    models.mkdir(parents=True)
    (models / "shop.sql").write_text(sql)
    path = tmp_path / "store.lbug"
    asked = [
        "ingest",
        "sql",
        str(tmp_path / "shop"),
        "--dialect",
        "postgres",
        "--project",
        "shop",
        "--store",
        str(path),
    ]
    subprocess.run([LINEAGE, *asked], check=True, capture_output=True)
    examples = re.findall(r"```graphql\n(.*?)```\n\n```json\n(.*?)```", text, re.DOTALL)
    assert len(examples) == text.count("```graphql") >= 7
    with open_store(path) as store, running(store) as service:
        for query, answer in examples:
            with subtests.test(query.split("(")[0]):
                assert service.data(query) == json.loads(answer)
