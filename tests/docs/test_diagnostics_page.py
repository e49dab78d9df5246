"""Each code has a section in docs/diagnostics.md, whose example gives exactly that code."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from lineage.model.diagnostics import DiagnosticCode
from lineage.store import open_store
from tests.docs.blocks import Block
from tests.docs.runner import ROOT, Runner

PAGE = ROOT / "docs" / "diagnostics.md"
WITHOUT_EXAMPLE = {
    "INTERNAL_ERROR": "tests/sql/test_bad_input.py",
    "INVALID_EVENT": "tests/events/test_kafka.py",
    "CATALOG_UNREADABLE": "tests/live_database/test_ingest_postgres.py",
    "NOT_FOLLOWED": "tests/live_database/test_ingest_postgres.py",
    "DATABASE_DIFFERS": "tests/live_database/test_verification.py",
    "EXPRESSION_NOT_READ": "tests/bi/test_metabase.py",
    "CONNECTION_UNKNOWN": "tests/bi/test_metabase.py",
}
"""Codes that no SQL is known to give, or that need a server, with the test that gives them."""


def test_every_code_has_a_section_in_the_order_of_the_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^## (\w+)$", text, re.MULTILINE) == [str(code) for code in DiagnosticCode]
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        assert "\nSeverity: " in section, section
        assert "**What to do.**" in section, section


def test_codes_without_an_example_are_tested_elsewhere() -> None:
    for code, test in WITHOUT_EXAMPLE.items():
        assert code in (ROOT / test).read_text(encoding="utf-8")


@pytest.mark.parametrize("code", [str(code) for code in DiagnosticCode if str(code) not in WITHOUT_EXAMPLE])
def test_the_example_gives_the_code_and_no_other(code: str, folder: Path) -> None:
    with Runner(PAGE) as runner:
        sections: dict[str, list[Block]] = defaultdict(list)
        for block in runner.blocks:
            sections[block.heading].append(block)
        assert sections[code], "no example"
        ingests = any("lineage ingest" in block.text for block in sections[code])
        before = stored(folder) if ingests else set()
        for block in sections[code]:
            runner.run(block, None)
    printed = set(re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", runner.printed)) & {str(one) for one in DiagnosticCode}
    kept = stored(folder) - before if ingests else set()
    assert printed | kept == {code}, runner.printed


def test_the_commands_above_the_sections(folder: Path) -> None:
    assert folder.exists()
    with Runner(PAGE) as runner:
        [block] = [block for block in runner.blocks if block.heading == "Diagnostics"]
        runner.run(block, None)


def stored(folder: Path) -> set[str]:
    """Return the codes of the diagnostics in the folder's store."""
    with open_store(folder / "lineage.db", read_only=True) as store:
        return {str(one.diagnostic.code) for one in store.diagnostics()}
