"""The faults of the folder `faults`, and a copy of the working tree in which one of them can be made."""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile

__all__ = ["ROOT", "Fault", "copied_tree", "read_faults"]

ROOT = Path(__file__).parents[2]
_LISTS = ("sql", "stores", "traversal", "ingest", "comparison", "service_and_commands")
_UNTRACKED = (".venv", ".venv-dbt", ".spark-4.0", ".spark-4.1", "build")
"""What tests need beside the source; the copy links to it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A change of one place of one file that breaks a rule."""

    rule: str
    """What holds without it."""
    file: str
    old: str
    """The text that is replaced; it occurs once."""
    new: str
    found_by: list[str]
    """The tests that fail with it."""

    @contextmanager
    def made_in(self, tree: Path) -> Iterator[None]:
        """Make it in a copy of the source, until the end of the block."""
        path = tree / self.file
        text = path.read_text(encoding="utf-8")
        assert text.count(self.old) == 1, f"{self.file} has {text.count(self.old)} times: {self.old}"
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(text, encoding="utf-8")


def read_faults() -> list[Fault]:
    """Return the faults, in the order of the lists."""
    texts = [(Path(__file__).with_name("faults") / f"{name}.toml").read_text(encoding="utf-8") for name in _LISTS]
    return [Fault(**one) for text in texts for one in tomllib.loads(text)["fault"]]


def copied_tree(folder: Path) -> Path:
    """Copy the files that git knows, as they are now, into a folder; return it."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            copyfile(ROOT / name, folder / name)
            (folder / name).chmod((ROOT / name).stat().st_mode)
    for name in _UNTRACKED:
        if (ROOT / name).exists():
            (folder / name).symlink_to((ROOT / name).resolve())
    return folder
