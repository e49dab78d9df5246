"""Runs the benchmarks, prints what they measured, keeps a JSON record of each under results/.

python -m tests.benchmarks            all of them but those that run on request only
python -m tests.benchmarks extraction one by name
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

import tests.benchmarks

RESULTS = Path(__file__).parent / "results"


def main(wanted: list[str]) -> int:
    names = sorted(module.name for module in pkgutil.iter_modules(tests.benchmarks.__path__) if module.name[0] != "_")
    unknown = set(wanted) - set(names)
    if unknown:
        print(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(names)}")
        return 2
    RESULTS.mkdir(exist_ok=True)
    for name in wanted or names:
        benchmark = importlib.import_module(f"tests.benchmarks.{name}")
        if not wanted and getattr(benchmark, "ON_REQUEST", False):
            continue
        print(f"== {name}", flush=True)
        figures = benchmark.run()
        machine = {"python": platform.python_version(), "system": platform.system(), "cores": os.cpu_count()}
        record = {"benchmark": name, "at": datetime.now(UTC).isoformat(timespec="seconds"), "machine": machine}
        text = json.dumps({**record, "figures": figures}, indent=2)
        (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        for key, value in figures.items():
            print(f"   {key}: {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
