"""The configurations of editors: those in docs/editor.md, and the client for Visual Studio Code."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import fields
from pathlib import Path

from lineage.cli.registry import load_command
from lineage_editor.settings import EditorSettings
from tests.docs.blocks import read_blocks

ROOT = Path(__file__).parents[2]
SETTINGS = {re.sub(r"_(\w)", lambda found: found[1].upper(), one.name) for one in fields(EditorSettings)}


def _check(arguments: list[str]) -> None:
    assert arguments[0] == "lsp"
    load_command("lsp").make_context("lsp", arguments[1:])


def test_the_blocks_of_the_page_start_the_server() -> None:
    blocks = {block.language: block.text for block in read_blocks(ROOT / "docs" / "editor.md")}
    words = re.findall(r'"([^"]+)"', blocks["lua"].partition("cmd = {")[2].partition("}")[0])
    assert words[0] == "lineage"
    _check(words[1:])
    server = tomllib.loads(blocks["toml"])["language-server"]["lineage"]
    assert server["command"] == "lineage"
    _check(server["args"])


def test_the_client_sends_the_settings_that_it_declares() -> None:
    folder = ROOT / "editors" / "vscode"
    declared = json.loads((folder / "package.json").read_text())["contributes"]["configuration"]["properties"]
    script = (folder / "extension.js").read_text()
    sent = set(re.findall(r'"(\w+)"', script.partition("const SETTINGS = [")[2].partition("]")[0]))
    assert {name.removeprefix("lineage.") for name in declared} == sent | {"command"}
    assert sent | {"preview"} == SETTINGS


def test_settings_of_an_editor_are_those_of_the_command_line() -> None:
    given = {"store": "x.db", "defaultSchema": "shop", "catalogs": ["a.sql"], "explorer": " ", "preview": True, "z": 1}
    settings = EditorSettings(dialect="postgres", explorer="http://127.0.0.1:8000/").changed_by(given)
    assert settings == EditorSettings(
        "x.db", "postgres", default_schema="shop", catalogs=("a.sql",), explorer="http://127.0.0.1:8000/", preview=True
    )
    assert settings.explorer_address == "http://127.0.0.1:8000"
    assert EditorSettings("https://lineage.example/").explorer_address == "https://lineage.example"
