"""A folder of models resolved by one process and by all processors, in the same run; both results are compared.

The clock's time counts here, since it is what several processes save: other work on the machine changes the ratio. The
processors' time of the parent and of the workers is given as well: it does not depend on other work, and shows what the
processes cost together.
"""

from __future__ import annotations

import os
import time
from typing import Any

from lineage.sql.extraction import options_for
from lineage.sql.script.parallel.processes import resolve_texts
from lineage.worker_pool import available_processors
from tests.benchmarks._models import models

STATEMENTS = 3285


def run() -> dict[str, Any]:
    texts, options = models(STATEMENTS), options_for("trino")
    jobs = max(2, available_processors())
    found, measured = {}, {}
    for number in (jobs, 1):
        began, before = time.perf_counter(), os.times()
        found[number] = resolve_texts(texts, options, jobs=number)
        after = os.times()
        measured[number] = {
            "seconds": time.perf_counter() - began,
            "parent_cpu_seconds": after.user + after.system - before.user - before.system,
            "workers_cpu_seconds": (
                after.children_user + after.children_system - before.children_user - before.children_system
            ),
        }
    assert [one.to_dict() for one in found[jobs]] == [one.to_dict() for one in found[1]]
    one, all_ = measured[1], measured[jobs]
    busiest = all_["parent_cpu_seconds"] + all_["workers_cpu_seconds"] / jobs
    return {
        "statements": len(found[1]),
        "megabytes": round(sum(map(len, texts.values())) / 1e6, 1),
        "jobs": jobs,
        "one_process": {name: round(value, 2) for name, value in one.items()},
        "all_processes": {name: round(value, 2) for name, value in all_.items()},
        "one_to_all": round(one["seconds"] / all_["seconds"], 2),
        "one_to_all_by_cpu": round(one["parent_cpu_seconds"] / busiest, 2),
    }
