"""A folder as it was at a revision of git, written `REVISION:FOLDER` as git itself writes it.

The files are read one by one from git's objects: `git archive` leaves out what `.gitattributes` excludes from archives.
"""

from __future__ import annotations

import os
import posixpath
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from lineage.frozen import frozen
from lineage.model.files import SQL_SUFFIXES

__all__ = ["GitRevisionError", "RevisionFolder", "extract_revision", "is_git_revision"]

_SECONDS = 120
_FILES, _LINK = ("100644", "100755"), "120000"
_SUBMODULE = "160000"
"""Modes of files, links and submodules."""
_LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid "


class GitRevisionError(ValueError):
    """git does not know the revision or the folder, or is not installed."""


def is_git_revision(text: str) -> bool:
    """Return whether a text is written `REVISION:FOLDER`, and is no existing path.

    >>> is_git_revision("main:models"), is_git_revision("models"), is_git_revision("-x:models")
    (True, False, False)
    """
    revision, separator, _ = text.partition(":")
    return bool(separator and revision) and not revision.startswith("-") and not Path(text).exists()


@frozen
class RevisionFolder:
    """The folder with the files of a revision, and what was left out: the reason by path."""

    path: Path
    left_out: Mapping[str, str]


def extract_revision(text: str, into: Path) -> RevisionFolder:
    """Write the files of `REVISION:FOLDER` into a folder, and return it; the work tree is not touched.

    As in git, a folder is relative to the root of the repository, and `./` to the current folder. Links stay links; if
    some lead out of the folder, the SQL files of the whole revision are written. Left out are submodules, files that
    Git LFS keeps elsewhere, and links of SQL files and folders that lead out of the repository.

    Raises:
        GitRevisionError: git does not know it, or is not installed.
    """
    revision, _, folder = text.partition(":")
    folder = "" if folder == "." else folder
    tree = f"{revision}:{folder if folder.startswith(('./', '../')) else folder.strip('/')}"
    entries = _entries(text, tree)
    links = _links(text, entries)
    inner = ""
    if any(_leads_out(path, target) for path, target in links.items()):
        inner = _from_root(text, folder)
        entries = [
            one
            for one in _entries(text, f"{revision}:")
            if one[2].is_relative_to(inner) or one[0] == _LINK or one[2].suffix.lower() in SQL_SUFFIXES
        ]
        links = _links(text, entries)
    left_out = {path: f"a submodule, at {key[:12]}" for mode, key, path in entries if mode == _SUBMODULE}
    (into / inner).mkdir(parents=True, exist_ok=True)
    files = [(key, path) for mode, key, path in entries if mode in _FILES]
    for (_, path), content in zip(files, _objects(text, [key for key, _ in files]), strict=True):
        _write(into / path, content)
        if content.startswith(_LFS_POINTER) and path.suffix.lower() in SQL_SUFFIXES:
            left_out[path] = f"a file of Git LFS, {content.split()[3].decode()[:20]}"
    for path in _make_links(into, links):
        if path.suffix.lower() in ("", *SQL_SUFFIXES):
            left_out[path] = f"a link to `{links[path]}`"
    within = {path: why for path, why in left_out.items() if path.is_relative_to(inner)}
    return RevisionFolder(into / inner, {str(path.relative_to(inner)): why for path, why in within.items()})


def _entries(text: str, tree: str) -> list[tuple[str, str, PurePosixPath]]:
    """Return the mode, the key and the path of what is in a tree."""
    found = []
    for line in filter(None, _git(text, "ls-tree", "-r", "-z", "--full-tree", tree).split(b"\0")):
        head, _, name = line.partition(b"\t")
        mode, _, key = head.decode().split(" ")
        path = PurePosixPath(name.decode("utf-8", "surrogateescape"))
        if ".." not in path.parts and not path.is_absolute():
            found.append((mode, key, path))
    return found


def _links(text: str, entries: Iterable[tuple[str, str, PurePosixPath]]) -> dict[PurePosixPath, str]:
    """Return the links of a tree, with what they lead to."""
    listed = [(key, path) for mode, key, path in entries if mode == _LINK]
    targets = _objects(text, [key for key, _ in listed])
    return {path: os.fsdecode(target) for (_, path), target in zip(listed, targets, strict=True)}


def _leads_out(path: PurePosixPath, target: str) -> bool:
    """Return whether a link leads out of the folder, to what may be in the repository."""
    return not posixpath.isabs(target) and posixpath.normpath(path.parent / target).startswith("..")


def _from_root(text: str, folder: str) -> str:
    """Return a folder as seen from the root of the repository."""
    if folder.startswith(("./", "../")):
        folder = os.fsdecode(_git(text, "rev-parse", "--show-prefix")).strip("\n") + folder
    return posixpath.normpath(folder.strip("/") or ".")


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _make_links(into: Path, links: Mapping[PurePosixPath, str]) -> list[PurePosixPath]:
    """Make the links, and return those that cannot be made, or lead out of the folder."""
    refused = []
    for path, target in links.items():
        (into / path).parent.mkdir(parents=True, exist_ok=True)
        try:
            (into / path).symlink_to(target)
        except OSError:  # a system without links
            refused.append(path)
    root = os.path.realpath(into)
    out = [path for path in links if not f"{os.path.realpath(into / path)}/".startswith(f"{root}/")]
    for path in out:
        (into / path).unlink()
    return [*refused, *out]


def _objects(text: str, keys: Iterable[str]) -> Iterator[bytes]:
    """Yield the contents of git's objects."""
    given = "".join(f"{key}\n" for key in keys).encode()
    return _contents(_git(text, "cat-file", "--batch", given=given)) if given else iter(())


def _contents(output: bytes) -> Iterator[bytes]:
    """Yield the contents of objects in the output of `git cat-file --batch`."""
    start = 0
    while start < len(output):
        end = output.index(b"\n", start)
        size = int(output[start:end].rsplit(b" ", 1)[-1])
        yield output[end + 1 : end + 1 + size]
        start = end + size + 2


def _git(text: str, *arguments: str, given: bytes = b"") -> bytes:
    try:
        done = subprocess.run(["git", *arguments], input=given, capture_output=True, timeout=_SECONDS, check=False)
    except FileNotFoundError as error:
        raise GitRevisionError("git is not installed: give folders instead of revisions") from error
    except subprocess.TimeoutExpired as error:
        raise GitRevisionError(f"git did not answer within {_SECONDS} seconds") from error
    if done.returncode:
        why = done.stderr.decode("utf-8", "replace").strip().splitlines()
        said = next((line for line in why if line.startswith("fatal:")), why[-1] if why else "no message")
        raise GitRevisionError(f"git knows no `{text}`: {said.removeprefix('fatal: ')}{_advice()}")
    return done.stdout


def _advice() -> str:
    """Return what to do if the repository was cloned without its history."""
    asked = subprocess.run(
        ["git", "rev-parse", "--is-shallow-repository"], capture_output=True, timeout=_SECONDS, check=False
    )
    if asked.stdout.strip() != b"true":
        return ""
    return "; the clone is shallow: `git fetch --unshallow`, or `fetch-depth: 0` in a workflow"
