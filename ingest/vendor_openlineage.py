"""Copy the JSON schemas that OpenLineage publishes into `lineage_ingest/openlineage/schemas`, unchanged.

`make openlineage-schemas VERSION=1.54.0` runs it. VERSION is a tag, branch or commit of OpenLineage's repository.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from lineage_ingest.openlineage.validation.json_schemas import CORE_FILE, FACET_FILES

REPOSITORY = "https://github.com/OpenLineage/OpenLineage"
FOLDER = Path(__file__).parent / "lineage_ingest" / "openlineage" / "schemas"


def main(version: str, repository: str = REPOSITORY) -> None:
    """Copy the schemas of a version, the licence, and a record of what was copied."""
    copied = {CORE_FILE: f"spec/{CORE_FILE}", "LICENSE": "LICENSE"}
    copied |= {name: f"spec/facets/{name}" for name in sorted(set(FACET_FILES))}
    with tempfile.TemporaryDirectory() as folder:
        _git(folder, "init", "--quiet", "--bare")
        _git(folder, "remote", "add", "origin", repository)
        _git(folder, "fetch", "--quiet", "--depth", "1", "--filter=blob:none", "origin", version)
        commit = _git(folder, "rev-parse", "FETCH_HEAD").decode().strip()
        contents = {name: _git(folder, "show", f"{commit}:{path}") for name, path in copied.items()}
    for old in FOLDER.glob("*.json"):
        old.unlink()
    for name, content in contents.items():
        (FOLDER / name).write_bytes(content)
    record = {"repository": REPOSITORY, "version": version, "commit": commit, "license": "Apache-2.0"}
    (FOLDER / "source.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def _git(folder: str, *arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, stdout=subprocess.PIPE).stdout


if __name__ == "__main__":
    main(*sys.argv[1:])
