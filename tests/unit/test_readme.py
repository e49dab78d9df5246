"""What the README shows works as it is shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_python_example(capsys: pytest.CaptureFixture[str]) -> None:
    [example] = re.findall(
        r"```python\n(from lineage.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
    )
    exec(compile(example, "README.md", "exec"), {})
    assert capsys.readouterr().out == "shop.orders.amount -> twice [TRANSFORMATION]\n"


def test_links_lead_somewhere() -> None:
    for page in ("README.md", "CONTRIBUTING.md", "docs/using.md", "docs/graphql.md"):
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / page).read_text(encoding="utf-8")):
            assert (ROOT / page).parent.joinpath(link).exists(), f"{page} → {link}"
