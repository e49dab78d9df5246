"""The licences of what is locked, each against those that we accept: of Python packages, crates, the page.

python -m tests.packaging.licences    list them; exit status 1 if one is not accepted
"""

from __future__ import annotations

import csv
import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Licence", "accepts", "crates", "locked_names", "of_page", "of_python", "write_list"]

ROOT = Path(__file__).parents[2]

_ACCEPTED = frozenset(
    (
        *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC", "MIT", "MIT-0"),
        *("MIT-CMU", "PSF-2.0"),
        *("Python-2.0", "Unicode-3.0", "Unlicense", "Zlib", "Apache-2.0 WITH LLVM-exception"),
        "MPL-2.0",  # of files: ours are others
    )
)
"""Licences that ask for no more than their text beside the program."""
_EXCEPTIONS = {
    "psycopg": ("LGPL-3.0-only", "a library that is imported as it is, and can be exchanged"),
    "psycopg-binary": ("LGPL-3.0-only", "see psycopg"),
    "python-stdnum": ("LGPL-2.1-or-later", "see psycopg"),
    "apsw": ("any-OSI", "its text lets everyone choose a licence; we take Zlib"),
}
_NOT_STATED = {
    "axe-playwright-python": "MIT",  # it says so in its LICENSE only
    # Not installed here: of other systems, or of other Pythons.
    "brotlicffi": "MIT",
    "colorama": "BSD-3-Clause",
    "httpx2-jsfetch": "BSD-3-Clause",
    "pywin32": "PSF-2.0",
}
_WORDS = (
    (r"apache", "Apache-2.0"),
    (r"bsd.*2|2.clause", "BSD-2-Clause"),
    (r"bsd", "BSD-3-Clause"),
    (r"mozilla|\bmpl", "MPL-2.0"),
    (r"python software foundation|\bpsf", "PSF-2.0"),
    (r"\bisc\b", "ISC"),
    (r"\bmit\b", "MIT"),
)
"""How licences are called where they are not SPDX expressions."""


@dataclass(frozen=True)
class Licence:
    """The licence of something that we depend on; `reason` where it is an exception."""

    kind: str
    name: str
    version: str
    expression: str
    reason: str = ""

    @property
    def accepted(self) -> bool:
        """Whether we may depend on it."""
        return bool(self.reason) or accepts(self.expression)


def accepts(expression: str) -> bool:
    """Return whether an SPDX expression leaves a choice that is accepted.

    >>> [accepts(one) for one in ("MIT", "GPL-3.0-only OR MIT", "(MIT OR GPL-2.0) AND Zlib", "MIT AND GPL-2.0", "")]
    [True, True, True, False, False]
    """
    text = expression.replace("/", " OR ")
    while inner := re.search(r"\(([^()]*)\)", text):
        text = f"{text[: inner.start()]}{'MIT' if accepts(inner[1]) else 'refused'}{text[inner.end() :]}"
    return any(all(one.strip() in _ACCEPTED for one in choice.split(" AND ")) for choice in text.split(" OR "))


def of_python() -> list[Licence]:
    """Return the licences of what `requirements.lock` lists."""
    installed = {_plain(one.name): one for one in importlib.metadata.distributions()}
    found = []
    for name, version in locked_names():
        exception, reason = _EXCEPTIONS.get(name, ("", ""))
        there = installed.get(name)
        stated = exception or _NOT_STATED.get(name, "") or (_stated(there.metadata) if there else "")
        found.append(Licence("python", name, version, stated, reason))
    return found


def locked_names() -> list[tuple[str, str]]:
    """Return the names and versions in `requirements.lock`."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    return [(_plain(name), version) for name, version in re.findall(r"^([\w.-]+)==([^\s;\\]+)", text, re.MULTILINE)]


def crates() -> list[Licence]:
    """Return the licences of the crates in the native scanner; none without cargo."""
    if shutil.which("cargo") is None:
        return []
    manifest = ROOT / "lineage" / "native" / "Cargo.toml"
    command = ["cargo", "metadata", "--format-version", "1", "--quiet", "--manifest-path", str(manifest)]
    packages = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["packages"]
    return [Licence("crate", one["name"], one["version"], one["license"] or "") for one in packages]


def of_page() -> list[Licence]:
    """Return the licences of the packages that the explorer's page contains."""
    lock = json.loads((ROOT / "graphql" / "explorer" / "package-lock.json").read_text(encoding="utf-8"))
    return [
        Licence("page", name.rpartition("node_modules/")[2], one["version"], one.get("license", ""))
        for name, one in lock["packages"].items()
        if name and not one.get("dev")
    ]


def write_list(path: Path) -> list[Licence]:
    """Write all licences as CSV, print how many there are of each; return those that are not accepted."""
    everything = [*of_python(), *crates(), *of_page()]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["kind", "name", "version", "licence", "exception"])
        rows.writerows((one.kind, one.name, one.version, one.expression, one.reason) for one in everything)
    counts = Counter(one.expression or "not stated" for one in everything)
    print(f"{len(everything)} licences in {path}")
    for expression, number in counts.most_common():
        print(f"  {number:4} {expression}")
    refused = [one for one in everything if not one.accepted]
    for one in refused:
        print(f"not accepted: {one.kind} {one.name} {one.version}: {one.expression or 'it states none'}")
    return refused


def _stated(metadata: importlib.metadata.PackageMetadata) -> str:
    """Return what a package says of its licence, as an SPDX expression."""
    if expressions := metadata.get_all("License-Expression"):
        return str(expressions[0])
    classifiers = [one for one in metadata.get_all("Classifier") or [] if one.startswith("License ::")]
    texts = [*classifiers, *(str(one).partition("\n")[0] for one in metadata.get_all("License") or [])]
    return " AND ".join(dict.fromkeys(_named(texts))) if texts else ""


def _named(texts: list[str]) -> Iterator[str]:
    for text in texts:
        found = next((name for pattern, name in _WORDS if re.search(pattern, text, re.IGNORECASE)), None)
        if found is not None:
            yield found
            if "::" not in text:
                return


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    sys.exit(bool(write_list(ROOT / "build" / "dist-check" / "licences.csv")))
