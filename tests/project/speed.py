"""Extraction's speed beside that of another checkout: CPU seconds for TPC-DS and MIMIC-IV, in turns.

python -m tests.project.speed FOLDER    FOLDER is a checkout in which `make setup` was run
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_ROUNDS = 3
_TIMED = """
import json, sys, time
from pathlib import Path
from lineage import extract

root, best = Path(sys.argv[1]), {}
sets = {
    "tpcds": (root / "tests/data/tpcds", "spark"),
    "mimic_iv": (root / "ingest/lineage_ingest/demo/mimic_iv/concepts", "postgres"),
}
for name, (folder, dialect) in sets.items():
    texts = [file.read_text() for file in sorted(folder.rglob("*.sql"))]
    for _ in range(6):
        began = time.process_time()
        for text in texts:
            extract(text, dialect)
        best[name] = min(best.get(name, 1e9), time.process_time() - began)
print(json.dumps(best))
"""


def _seconds(checkout: Path) -> dict[str, float]:
    command = [str(checkout / ".venv/bin/python"), "-c", _TIMED, str(_ROOT)]
    found: dict[str, float] = json.loads(subprocess.run(command, cwd=checkout, check=True, capture_output=True).stdout)
    return found


def main(arguments: list[str]) -> int:
    """Print the best of several rounds for both checkouts, and their ratio."""
    other = Path(arguments[0]).resolve()
    rounds = [(_seconds(other), _seconds(_ROOT)) for _ in range(_ROUNDS)]
    for name in rounds[0][0]:
        before, after = (min(each[at][name] for each in rounds) for at in (0, 1))
        print(f"{name:<8} {before:.3f} s there, {after:.3f} s here: ratio {after / before:.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
