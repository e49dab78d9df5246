"""A folder as it was at a revision of git, written `REVISION:FOLDER` as git itself writes it."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path

__all__ = ["GitRevisionError", "extract_revision", "is_git_revision"]

_SECONDS = 120


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

    Raises:
        GitRevisionError: git does not know it, or is not installed.
    """
    revision, _, folder = text.partition(":")
    tree = f"{revision}:{folder.strip('/') if folder not in ('', '.', './') else ''}"
    try:
        done = subprocess.run(
            ["git", "archive", "--format=tar", tree], capture_output=True, timeout=_SECONDS, check=False
        )
    except FileNotFoundError as error:
        raise GitRevisionError("git is not installed: give folders instead of revisions") from error
    except subprocess.TimeoutExpired as error:
        raise GitRevisionError(f"git did not answer within {_SECONDS} seconds") from error
    if done.returncode:
        why = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitRevisionError(f"git knows no `{text}`: {why[-1] if why else 'no message'}")
    into.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(into, filter="data")
    return into
