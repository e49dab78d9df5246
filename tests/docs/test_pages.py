"""Every command and code block of the pages works as it is shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.site import PAGES
from tests.docs.blocks import read_blocks
from tests.docs.runner import ROOT, Runner

WRITTEN = ("docs/supported.md", "docs/query_log_forms.md", "docs/python_reference.md")
"""Pages that `make docs` writes: they show no commands."""
OWN = ("docs/index.md", "docs/diagnostics.md")
"""Pages with a test of their own: the first one makes the folder (`conftest.shop`)."""
RUN = sorted({"README.md", "tests/README.md", *PAGES} - {*WRITTEN, *OWN, "CHANGELOG.md"})
EMPTY = "<!-- starts in an empty folder -->"


def test_the_first_page(shop: Path) -> None:
    assert (shop / "lineage.db").exists()


@pytest.mark.parametrize("name", RUN)
def test_the_blocks_of_a_page(name: str, folder: Path, subtests: pytest.Subtests) -> None:
    page = ROOT / name
    if EMPTY in page.read_text(encoding="utf-8"):
        for path in folder.glob("lineage.db*"):
            path.unlink()
    with Runner(page) as runner:
        for block, result in runner.steps():
            with subtests.test(f"{name}:{block.line}"):
                runner.run(block, result)


def test_the_client_in_the_readme_is_short() -> None:
    [client] = [block for block in read_blocks(ROOT / "README.md") if "urlopen" in block.text]
    assert len(client.text.splitlines()) <= 15


@pytest.mark.parametrize("name", sorted({"README.md", *PAGES} - set(WRITTEN)))
def test_every_block_is_fenced_and_has_a_language(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert all(block.language for block in read_blocks(ROOT / name))
    unfenced = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert not re.findall(r"\n\n    (?! )\S.*", unfenced), "an indented block is not run: use a fence"
