"""URL of a repository's `origin`, read from its files: it names the project, the same on every machine."""

from __future__ import annotations

import os.path
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["origin_of", "repository_name"]

_SECTION = re.compile(r'\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_URL = re.compile(r"\s*url\s*=\s*(.*?)\s*$", re.IGNORECASE)
_SCP = re.compile(r"(?:[^@/]*@)?(\[[^\]]+\]|[^/:@\[\]]{2,}):(?!//)(.+)")
_DEFAULT_PORTS = {"ssh": 22, "git+ssh": 22, "ssh+git": 22, "https": 443, "http": 80, "git": 9418}
_CASE_INSENSITIVE_HOSTS = frozenset({"github.com", "gitlab.com", "bitbucket.org"})
"""Hosts on which owner and name are case-insensitive."""


def origin_of(root: Path) -> str | None:
    """Return the name (see `repository_name`) of a working tree's `origin`.

    None if there is no `origin`, or if git's files cannot be read. Linked working trees and submodules have a file
    `.git` with the path of their git directory.
    """
    try:
        url = _origin_url(_git_directory(root / ".git") / "config")
    except (OSError, UnicodeDecodeError, ValueError):
        return None
    return repository_name(url, root) if url else None


def repository_name(url: str, root: Path) -> str | None:
    """Return host, owner and name from a repository's URL, without credentials, protocol and `.git`.

    A local path is resolved against `root`.

    >>> repository_name("https://ana:token@GitHub.com/acme/Shop.git", Path("/"))
    'github.com/acme/shop'
    >>> repository_name("git@git.acme.com:team/shop.git", Path("/"))
    'git.acme.com/team/shop'
    >>> repository_name("ssh://git@git.acme.com:2222/team/shop/", Path("/"))
    'git.acme.com:2222/team/shop'
    """
    scheme, separator, _ = url.partition("://")
    if not separator:
        found = _SCP.fullmatch(url)
        return _join(found.group(1), found.group(2)) if found else _local_name(url, root)
    parts = urlsplit(url)
    if scheme.lower() == "file" or not parts.hostname:
        return _local_name(unquote(parts.path), root)
    port = parts.port
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if port is not None and port != _DEFAULT_PORTS.get(scheme.lower()):
        host += f":{port}"
    return _join(host, unquote(parts.path))


def _join(host: str, path: str) -> str | None:
    host = host.lower()
    path = path.strip("/").removesuffix(".git").strip("/")
    return f"{host}/{path.lower() if host in _CASE_INSENSITIVE_HOSTS else path}" if path else None


def _local_name(path: str, root: Path) -> str | None:
    bare = path.rstrip("/").removesuffix("/.git").removesuffix(".git")
    return Path(os.path.normpath(root / bare)).as_posix() if bare else None


def _git_directory(git: Path) -> Path:
    """Return the git directory with the configuration of a working tree."""
    if git.is_file():
        named = git.read_text(encoding="utf-8").strip().removeprefix("gitdir:").strip()
        git = git.parent / named
    common = git / "commondir"
    return git / common.read_text(encoding="utf-8").strip() if common.is_file() else git


def _origin_url(config: Path) -> str | None:
    """Return the first URL of the remote `origin` in git's configuration."""
    of_origin = False
    for line in config.read_text(encoding="utf-8").splitlines():
        section = _SECTION.match(line)
        if section is not None:
            of_origin = section.group(1).lower() == "remote" and section.group(2) == "origin"
        if of_origin and (found := _URL.match(line, section.end() if section else 0)):
            return found.group(1).strip('"')
    return None
