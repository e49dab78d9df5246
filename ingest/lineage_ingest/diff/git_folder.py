"""A folder as it was at a revision of git, written `REVISION:FOLDER` as git itself writes it.

The files are read one by one from git's objects: `git archive` leaves out what `.gitattributes` excludes from archives.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

__all__ = ["GitRevisionError", "extract_revision", "is_git_revision"]

_SECONDS = 120
_FILES, _LINK = ("100644", "100755"), "120000"
"""Modes of files and links; a link is read if it leads to a file of the revision. Submodules are left out."""


class GitRevisionError(ValueError):
    """git does not know the revision or the folder, or is not installed."""


def is_git_revision(text: str) -> bool:
    """Return whether a text is written `REVISION:FOLDER`, and is no existing path.

    >>> is_git_revision("main:models"), is_git_revision("models"), is_git_revision("-x:models")
    (True, False, False)
    """
    revision, separator, _ = text.partition(":")
    return bool(separator and revision) and not revision.startswith("-") and not Path(text).exists()


def extract_revision(text: str, into: Path) -> Path:
    """Write the files of `REVISION:FOLDER` into a folder, and return it; the work tree is not touched.

    As in git, a folder is relative to the root of the repository, and `./` to the current folder.

    Raises:
        GitRevisionError: git does not know it, or is not installed.
    """
    revision, _, folder = text.partition(":")
    folder = "" if folder == "." else folder
    tree = f"{revision}:{folder if folder.startswith(('./', '../')) else folder.strip('/')}"
    listed = list(_files(_git(text, "ls-tree", "-r", "-z", "--full-tree", tree), tree))
    objects = "".join(f"{key}\n" for key, _ in listed).encode("utf-8", "surrogateescape")
    contents = _contents(_git(text, "cat-file", "--batch", "--follow-symlinks", given=objects)) if listed else iter(())
    into.mkdir(parents=True, exist_ok=True)
    for (_, name), content in zip(listed, contents, strict=True):
        if content is None:
            continue
        path = into / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return into


def _files(listing: bytes, tree: str) -> Iterator[tuple[str, PurePosixPath]]:
    """Yield the files of a tree: the name of the object, of a link that with its path, and the path."""
    for line in filter(None, listing.split(b"\0")):
        head, _, name = line.partition(b"\t")
        mode, _, key = head.decode().split(" ")
        path = PurePosixPath(name.decode("utf-8", "surrogateescape"))
        if ".." in path.parts or path.is_absolute():
            continue
        if mode in _FILES:
            yield key, path
        elif mode == _LINK and "\n" not in str(path):
            yield f"{tree}{'' if tree.endswith((':', '/')) else '/'}{path}", path


def _contents(output: bytes) -> Iterator[bytes | None]:
    """Yield the contents of objects in the output of `git cat-file --batch`; None for links that lead to no file."""
    start = 0
    while start < len(output):
        end = output.index(b"\n", start)
        words = output[start:end].rsplit(b" ", 2)
        if words[-1] == b"missing":
            yield None
            start = end + 1
            continue
        size = int(words[-1])
        yield output[end + 1 : end + 1 + size] if words[-2] == b"blob" else None
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
        raise GitRevisionError(f"git knows no `{text}`: {why[-1] if why else 'no message'}{_advice()}")
    return done.stdout


def _advice() -> str:
    """Return what to do if the repository was cloned without its history."""
    asked = subprocess.run(
        ["git", "rev-parse", "--is-shallow-repository"], capture_output=True, timeout=_SECONDS, check=False
    )
    if asked.stdout.strip() != b"true":
        return ""
    return "; the clone is shallow: `git fetch --unshallow`, or `fetch-depth: 0` in a workflow"
