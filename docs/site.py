"""Build the documentation site in build/docs/site from docs/ and the repository's other pages: `make docs`.

The pages link to source files of the repository, which a site does not contain. So the pages are first copied to
build/docs/pages with every file that they link to, and the links are rewritten.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["BUILD", "PAGES", "build", "stage"]

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "docs"
CONFIG = Path(__file__).with_name("zensical.toml")
_DECISIONS = Path(__file__).with_name("decisions")

PAGES = {
    **{f"docs/{page.name}": page.name for page in sorted(Path(__file__).parent.glob("*.md"))},
    "CONTRIBUTING.md": "contributing.md",
    "tests/README.md": "tests.md",
    "tests/cases/README.md": "cases.md",
    **{f"docs/decisions/{page.name}": f"decisions_{page.name}" for page in sorted(_DECISIONS.glob("[a-z]*.md"))},
    "docs/decisions/README.md": "decisions.md",
    "CHANGELOG.md": "changelog.md",
}
"""Pages of the site: path in the repository to path in the site."""

_LINK = re.compile(r"(?<!\\)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^()\s]+)\)")
_FENCE = re.compile(r"^(```.*?^```$)", re.DOTALL | re.MULTILINE)


def stage(folder: Path) -> None:
    """Copy the pages into a folder, and the files that they link to into its subfolder `files/`; rewrite the links."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for source, name in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        pieces = _FENCE.split(text)
        pieces[::2] = [_LINK.sub(lambda found: _rewrite(found, source, folder), piece) for piece in pieces[::2]]  # noqa: B023
        (folder / name).write_text("".join(pieces), encoding="utf-8")


def _rewrite(link: re.Match[str], source: str, folder: Path) -> str:
    target, _, anchor = link["target"].partition("#")
    if not target or ":" in target:
        return link[0]
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    if path in PAGES:
        return f"[{link['text']}]({PAGES[path]}{'#' + anchor if anchor else ''})"
    file = ROOT / path
    if not file.is_file():  # a folder: a site cannot show one
        return link["text"]
    name = file.name if source.startswith("docs/") and file.parent == ROOT / "docs" else f"files/{path}.txt"
    copied = folder / name
    copied.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, copied)
    return f"[{link['text']}]({name})"


def build(folder: Path = BUILD) -> None:
    """Build the site in `site/` of a folder; a broken link or any other warning is an error.

    Raises:
        subprocess.CalledProcessError: zensical reported an error or a warning.
    """
    stage(folder / "pages")
    shutil.copyfile(CONFIG, folder / CONFIG.name)
    command = [
        sys.executable,
        "-m",
        "zensical",
        "build",
        "--clean",
        "--strict",
        "--config-file",
        str(folder / CONFIG.name),
    ]
    subprocess.run(command, check=True)


if __name__ == "__main__":
    build()
