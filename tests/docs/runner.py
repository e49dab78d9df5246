"""Runs the code blocks of a page, in order, in one folder: see `blocks.py` for the markers.

`sh` blocks are commands; `console` blocks are commands (`$ …`) with their output, where `…` matches any text. `python`
blocks share one namespace; a `text` block after one is its output. `graphql` blocks are sent to a service over the
folder's store; a `json` block after one is the answer. Other blocks have to be valid.
"""

from __future__ import annotations

import contextlib
import glob
import importlib.util
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from lineage import extract
from lineage.cli.registry import load_command
from lineage.model.diagnostics import Severity
from lineage.store import open_store
from tests.cli.running import Finished, lineage
from tests.docs.blocks import MARKERS, Block, commands, read_blocks
from tests.service.running import Service, running

ROOT = Path(__file__).parents[2]
ADDRESS = "http://127.0.0.1:8000"
"""Where pages say that the service answers."""
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
TARGETS = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
BIN = Path(sys.executable).parent


class Runner:
    """A page's folder (the working directory), and what its blocks have made so far."""

    def __init__(self, page: Path) -> None:
        self.page = page
        self.blocks = read_blocks(page)
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._stack = ExitStack()
        self._service: Service | None = None
        self.printed = ""
        """What the commands and programs have printed so far."""

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop_service()

    def steps(self) -> Iterator[tuple[Block, Block | None]]:
        """Yield each block with the block that shows its result, if there is one."""
        blocks = iter([*self.blocks, None])
        block = next(blocks)
        while block is not None:
            following = next(blocks)
            shows = {"python": "text", "graphql": "json", "sh": "text"}.get(block.language)
            if following is not None and not following.marker and following.language == shows:
                yield block, following
                following = next(blocks)
            else:
                yield block, None
            block = following

    def run(self, block: Block, result: Block | None) -> None:
        """Run a block; fail where it does not do what the page says."""
        assert not block.marker or block.marker in MARKERS, f"unknown marker: {block.marker}"
        if block.marker == "tested by":
            test = ROOT / block.value
            assert self.page.name in test.read_text(encoding="utf-8"), f"{block.value} does not name {self.page.name}"
            return
        if block.marker == "file":
            Path(block.value).parent.mkdir(parents=True, exist_ok=True)
            Path(block.value).write_text(block.text, encoding="utf-8")
            return
        getattr(self, f"_run_{block.language or 'nothing'}")(block, result)

    def _run_sh(self, block: Block, result: Block | None) -> None:
        printed = [self._command(line, block) for line in commands(block.text)]
        if result is not None:
            compare(result.text, printed[-1])

    def _run_console(self, block: Block, _: Block | None) -> None:
        for piece in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            line, _newline, output = re.sub(r"\\\n", " ", piece).partition("\n")
            compare(output, self._command(line, block))

    def _run_python(self, block: Block, result: Block | None) -> None:
        out = io.StringIO()
        text = block.text.replace(ADDRESS, self._address()) if ADDRESS in block.text else block.text
        with contextlib.redirect_stdout(out):
            exec(compile("\n" * block.line + text, str(self.page), "exec"), self._names)
        if result is not None:
            compare(result.text, out.getvalue())

    def _run_graphql(self, block: Block, result: Block | None) -> None:
        self._address()
        assert self._service is not None
        data = self._service.data(block.text)
        if result is not None:
            assert data == json.loads(result.text)

    @staticmethod
    def _run_sql(block: Block, _: Block | None) -> None:
        for statement in extract(block.text, "postgres"):
            assert not [one for one in statement.diagnostics if one.severity is Severity.ERROR]

    @staticmethod
    def _run_json(block: Block, _: Block | None) -> None:
        json.loads(block.text)

    @staticmethod
    def _run_toml(block: Block, _: Block | None) -> None:
        tomllib.loads(block.text)

    @staticmethod
    def _run_text(_: Block, __: Block | None) -> None:
        """Do nothing: a drawing."""

    def _command(self, line: str, block: Block) -> str:
        if ADDRESS in line and block.marker != "parsed only":
            line = line.replace(ADDRESS, self._address())
        words = shlex.split(line)
        program = Path(words[0]).name
        if program == "make":
            assert {word for word in words[1:] if "=" not in word} <= TARGETS, line
        elif program == "pip":
            for extra in re.findall(r"\[(.*?)\]", line):
                assert set(extra.split(",")) <= set(EXTRAS), line
        elif program in ("python", "pytest", "cargo") or "=" in words[0]:
            check_paths(words)
        elif block.marker == "parsed only":
            assert program == "lineage", f"not a command of ours: {line}"
            parse(words[1:])
        elif program == "lineage" and not re.search(r"[|<>&;]", re.sub(r"'[^']*'|\"[^\"]*\"", "", line)):
            return self._finished(lineage(*expanded(line)[1:]), block)
        else:
            assert program in ("lineage", "curl", "printf"), f"not a command that pages use: {line}"
            self._stop_service(unless=ADDRESS in block.text)
            env = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
            done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, env=env)
            return self._finished(Finished(done.returncode, done.stdout, done.stderr), block)
        return ""

    def _finished(self, done: Finished, block: Block) -> str:
        expected = int(block.value) if block.marker == "exit" else 0
        assert done.code == expected, f"exit status {done.code}\n{done.out}\n{done.err}"
        printed = done.out + done.err
        self.printed += printed
        return printed

    def _address(self) -> str:
        """Return where a service over the folder's store answers; start it if need be."""
        if self._service is None:
            store = self._stack.enter_context(open_store("lineage.db"))
            self._service = self._stack.enter_context(running(store))
        return self._service.url

    def _stop_service(self, *, unless: bool = False) -> None:
        if not unless:
            self._service = None
            self._stack.close()


def expanded(line: str) -> list[str]:
    """Return the words of a command, patterns replaced by the files that they match, as a shell does."""
    words: list[str] = []
    for word in shlex.split(line):
        files = sorted(glob.glob(word)) if "*" in word and f'"{word}"' not in line and f"'{word}'" not in line else []
        words += files or [word]
    return words


def parse(arguments: list[str]) -> None:
    """Check a command's arguments by its own parser; fail as the command would."""
    command, name = load_command(arguments[0]), arguments[0]
    assert command is not None, f"no command {name}"
    rest = arguments[1:]
    while hasattr(command, "commands"):
        command, rest = command.get_command(None, rest[0]), rest[1:]
    command.make_context(name, rest)


def check_paths(words: list[str]) -> None:
    """Check that the modules and files that a developer's command names are there."""
    for before, word in zip(["", *words], words, strict=False):
        if before == "-m" and not word.startswith("pip"):
            assert importlib.util.find_spec(word) is not None, word
        elif word.startswith(("tests/", "lineage/", "ingest/", "graphql/")):
            assert (ROOT / word.partition("::")[0]).exists(), word


def compare(expected: str, printed: str) -> None:
    """Compare the output on a page with what was printed: `…` matches any text; spaces and further lines do not count.

    >>> compare("a  …\\n", "a b\\nc\\n")
    """
    shown = [" ".join(line.split()) for line in expected.splitlines() if line.strip()]
    lines = iter([" ".join(line.split()) for line in printed.splitlines()])
    for line in shown:
        pattern = ".*".join(map(re.escape, line.split("…")))
        assert any(re.fullmatch(pattern, found) for found in lines), f"not printed: {line}\n--- printed:\n{printed}"
