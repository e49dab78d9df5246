"""The committed page: built from the committed sources, small, without a registry's address."""

from __future__ import annotations

import gzip
from hashlib import sha256
from pathlib import Path

GRAPHQL = Path(__file__).parents[2] / "graphql"
SOURCES, BUILT = GRAPHQL / "explorer", GRAPHQL / "lineage_graphql" / "explorer"


def test_the_page_was_built_from_these_sources() -> None:
    files = [
        *(SOURCES / "src").iterdir(),
        *(SOURCES / name for name in ("index.html", "package-lock.json", "vite.config.ts")),
    ]
    digests = {file.relative_to(SOURCES).as_posix(): sha256(file.read_bytes()).hexdigest() for file in files}
    lines = (BUILT / "sources.sha256").read_text(encoding="utf-8").splitlines()
    assert {line.split("  ")[1]: line.split("  ")[0] for line in lines} == digests, "run `make explorer`"


def test_the_page_is_small() -> None:
    names = ("index.html", "explorer.js", "explorer.css")
    assert sum(len(gzip.compress((BUILT / name).read_bytes())) for name in names) < 400_000


def test_the_lock_file_has_hashes_and_no_addresses() -> None:
    text = (SOURCES / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in text
    assert text.count('"integrity"') > 50
