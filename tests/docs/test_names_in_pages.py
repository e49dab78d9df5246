"""Files, options, modules and targets that the pages name in running text exist."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from docs.site import PAGES
from lineage.cli.registry import command_names, load_command
from tests.docs.runner import ROOT, TARGETS

ALL = ["README.md", *PAGES]
NOW = sorted(set(ALL) - {"CHANGELOG.md"})
"""Pages about the present: the changelog may name what is gone."""
FOLDERS = ("lineage/", "ingest/", "graphql/", "tests/", "docs/", "model/", "query_log/", "planning/", "sql/")
ROOTS = ("", "lineage", "ingest/lineage_ingest", "ingest/lineage_ingest/query_log", "graphql", "lineage/store")
MEASURES = {
    "--jobs",
    "--only",
    "--seed",
    "--first",
    "--without",
    "--ignore",
    "--way",
    "--model",
    "--repeat",
    "--list",
    "--find-limit",
    "--large",
    "--again",
    "--missing",
    "--page",
    "--before",
    "--data",
}
TOOLS = {*MEASURES, "--strict", "--batch", "--install-completion", "--help", "--version"}.union(
    {"--defer", "--empty", "--generate-info-schema", "--sample", "--select", "--state", "--static-analysis", "--vars"}
)
"""Options of other commands: of mypy, of `mysql`, of dbt, of all commands."""


def spans(name: str) -> Iterator[str]:
    """Yield the code spans of a page's running text."""
    text = re.sub(r"^ *```.*?^ *```$", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", text):
        yield " ".join(span.split())


@pytest.mark.parametrize("name", NOW)
def test_files_are_there(name: str) -> None:
    for span in spans(name):
        if re.fullmatch(r"[\w./-]+", span) and span.startswith(FOLDERS) and not re.search(r"[A-Z]{4}/|\.git", span):
            here = (ROOT / name).parent
            assert any((ROOT / root / span).exists() for root in ROOTS) or (here / span).exists(), span


@pytest.mark.parametrize("name", ALL)
def test_links_lead_to_files(name: str) -> None:
    text = re.sub(r"^ *```.*?^ *```$", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
        assert (ROOT / name).parent.joinpath(link).exists(), link


@pytest.mark.parametrize("name", NOW)
def test_modules_and_targets_are_there(name: str) -> None:
    for span in spans(name):
        for module in re.findall(r"python -m ([\w.]+)", span):
            assert importlib.util.find_spec(module) is not None, span
        for target in re.findall(r"(?<!\S)make ([a-z0-9-]+)", span):
            assert target in TARGETS, span


@pytest.mark.parametrize("name", NOW)
def test_options_are_there(name: str) -> None:
    for span in spans(name):
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", span):
            assert option in known_options(), span


@cache
def known_options() -> frozenset[str]:
    """Return the long options of all commands."""
    return frozenset(TOOLS).union(*(options(load_command(name)) for name in command_names()))


def options(command: Any) -> Iterator[str]:
    """Yield the long options of a command and of the commands in it."""
    names = command.list_commands(None) if hasattr(command, "list_commands") else []
    for name in names:
        yield from options(command.get_command(None, name))
    for parameter in getattr(command, "params", ()):
        yield from (*parameter.opts, *parameter.secondary_opts)


def test_every_page_is_in_the_navigation() -> None:
    configured = (ROOT / "docs" / "zensical.toml").read_text(encoding="utf-8")
    listed = re.findall(r'= "([\w.]+\.md)"', configured)
    assert sorted(listed) == sorted(PAGES.values())


def test_pages_outside_of_docs_are_listed() -> None:
    assert all((ROOT / page).exists() for page in PAGES)
    assert {f"docs/{page.name}" for page in Path(ROOT / "docs").glob("*.md")} <= set(PAGES)
