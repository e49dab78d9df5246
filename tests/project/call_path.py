"""Call paths of a SQL text from `extract` to its edges, and of a batch into the store: the files that they enter.

python -m tests.project.call_path [FOLDER]    of this checkout, or of another one

A path enters a file when a function in it is called. It comes back to a file when another file calls a function in it
while one of its own functions is still running: a reader who follows the calls must return to it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[2]

_SQL = """
WITH paid AS (SELECT o.*, c.region FROM shop.orders AS o JOIN shop.customers AS c USING (customer_id) WHERE o.paid)
INSERT INTO mart.sales (region, day, amount)
SELECT region, date_trunc('day', at) AS day, sum(amount) FROM paid GROUP BY region, date_trunc('day', at)
"""

_TRACED = '''
import json, sys, tempfile
from pathlib import Path
root, sql = sys.argv[1], sys.argv[2]

class Trace:
    """The files that calls go into, and the pairs (from, to) of calls into a file that is still running."""
    def __init__(self):
        self.stack, self.files, self.back = [], {}, set()
    def __call__(self, frame, event, _):
        name = frame.f_code.co_filename
        if event == "call":
            ours = name if name.startswith(root) and ".venv" not in name else None
            if ours is not None and not frame.f_code.co_name.startswith("<"):
                self.files.setdefault(ours)
                before = next((one for one in reversed(self.stack) if one is not None), None)
                if ours != before and ours in self.stack:
                    self.back.add((before, ours))
            self.stack.append(ours)
        elif event == "return" and self.stack:
            self.stack.pop()

def traced(run):
    run()  # what is loaded and cached once is no part of the way
    trace = Trace()
    sys.setprofile(trace)
    try:
        run()
    finally:
        sys.setprofile(None)
    return {"files": len(trace.files), "back": len(trace.back)}

from lineage import extract
from typer.testing import CliRunner
from lineage.cli.main import app

folder = Path(tempfile.mkdtemp())
(folder / "sales.sql").write_text(sql + ";")
number = iter(range(10))

def ingest():
    arguments = ["ingest", "sql", str(folder), "--dialect", "postgres", "--store", str(folder / f"store{next(number)}")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output

print(json.dumps({"extract": traced(lambda: extract(sql, "postgres")), "ingest": traced(ingest)}))
'''


def call_path(root: Path) -> dict[str, dict[str, int]]:
    """Return the number of files that each path enters (`files`) and comes back to (`back`), in a checkout."""
    own = root / ".venv/bin/python"  # another checkout has its own entry points
    command = [str(own) if own.exists() else sys.executable, "-c", _TRACED, str(root), _SQL]
    output = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    found: dict[str, dict[str, int]] = json.loads(output.splitlines()[-1])
    return found


def main(arguments: list[str]) -> int:
    """Print the figures of a checkout."""
    for name, figures in call_path(Path(arguments[0]).resolve() if arguments else _ROOT).items():
        print(f"{name:<8} enters {figures['files']:>3} files, comes back {figures['back']:>3} times")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
