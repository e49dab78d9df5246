"""Read an exported file with DataHub's own reader: `python -m tests.export.datahub_reader FILE [PYTHON]`.

DataHub's package is large, and its dependencies clash with ours: PYTHON is the interpreter of an environment of its own
that has `acryl-datahub`. Without it, an environment is made in the user's cache.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import platformdirs

VERSION = "1.7.0.17"
READ = """
import sys
from collections import Counter
from datahub.emitter.mcp import MetadataChangeProposalWrapper
from datahub.ingestion.source.file import read_metadata_file
from datahub.metadata.urns import Urn
import pathlib
found = Counter()
for one in read_metadata_file(pathlib.Path(sys.argv[1])):
    assert isinstance(one, MetadataChangeProposalWrapper), one
    assert one.aspect.validate(), one
    Urn.from_string(one.entityUrn)
    found[one.aspectName] += 1
print(dict(found))
"""


def interpreter() -> Path:
    """Return the Python of an environment with DataHub's package, installed once."""
    folder = platformdirs.user_cache_path("lineage-graph", appauthor=False) / f"datahub-{VERSION}"
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", f"acryl-datahub=={VERSION}"], check=True)
    return python


def main() -> int:
    """Read the file; return 0 if DataHub takes every proposal."""
    path = Path(sys.argv[1])
    python = Path(sys.argv[2]) if len(sys.argv) > 2 else interpreter()
    return subprocess.run([python, "-c", READ, path.resolve()], check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
