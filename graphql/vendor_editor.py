"""Fetch the third-party files of the GraphQL editor from npm, as `editor/vendor/versions.json` names them.

`make editor` runs it. A file that is not as its hash says is not written.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tarfile
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent / "lineage_graphql" / "editor" / "vendor"


def main() -> None:
    """Fetch the files."""
    for package, files in json.loads((FOLDER / "versions.json").read_text(encoding="utf-8")).items():
        with tempfile.TemporaryDirectory() as folder:
            packed = subprocess.run(
                ["npm", "pack", "--silent", package],
                cwd=folder,
                check=True,
                capture_output=True,
                text=True,
            )
            with tarfile.open(Path(folder) / packed.stdout.split()[-1]) as archive:
                for name, wanted in files.items():
                    member = archive.extractfile(wanted["path"])
                    content = member.read() if member is not None else b""
                    if hashlib.sha256(content).hexdigest() != wanted["sha256"]:
                        raise SystemExit(f"{package}: {wanted['path']} has another hash than versions.json says")
                    (FOLDER / name).write_bytes(content)


if __name__ == "__main__":
    main()
