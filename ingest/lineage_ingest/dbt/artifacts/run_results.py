"""Results of the last run: run_results.json for tests, sources.json for the freshness of sources.

A result is of the time at which it was found. Messages are not read: those of databases quote values.
Formats: https://docs.getdbt.com/reference/artifacts/run-results-json and sources-json
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from datetime import UTC, datetime
from typing import Any

from lineage.frozen import frozen
from lineage.model.facts import CheckResult, Freshness

__all__ = ["RunResults", "freshness_in", "results_in", "time_from"]

_STATUSES = frozenset(("pass", "warn", "fail", "error", "skipped"))
_RUNS_NO_TESTS = frozenset(("clone", "compile", "docs", "generate", "parse", "ls", "list", "show", "freshness"))
"""Commands after which `success` or `error` of a test is about compiling it."""
_OF_SOURCES = {"pass": "pass", "warn": "warn", "error": "error", "runtime error": "error"}


@frozen
class RunResults:
    """The results of tests by unique id, of one command; `at` is when it was done.

    `command` is its name, `state` the folder of the environment that it deferred to, as it was given; `built` are the
    nodes whose tables it made, and `is_full_refresh` whether it made all of each.
    """

    at: datetime | None = None
    invocation: str | None = None
    results: Mapping[str, CheckResult] = field(default_factory=dict)
    command: str = ""
    state: str | None = None
    built: frozenset[str] = frozenset()
    is_full_refresh: bool = False


def results_in(data: Any) -> RunResults:
    """Return the results of tests in the content of run_results.json; those of models are left out."""
    metadata = _object(data, "metadata")
    at = time_from(metadata.get("generated_at"))
    invocation = metadata.get("invocation_id")
    arguments = _object(data, "args")
    command = arguments.get("which")
    state = (arguments.get("defer_state") or arguments.get("state")) if arguments.get("defer") else None
    known = RunResults(
        at,
        invocation if isinstance(invocation, str) else None,
        command=command if isinstance(command, str) else "",
        state=state if isinstance(state, str) else None,
        built=frozenset(key for key, result in _results(data) if result.get("status") == "success"),
        is_full_refresh=arguments.get("full_refresh") is True,
    )
    if at is None or command in _RUNS_NO_TESTS:
        return known
    found: dict[str, CheckResult] = {}
    for key, result in _results(data):
        status = result.get("status")
        if key.startswith(("test.", "unit_test.")) and status in _STATUSES:
            failures = result.get("failures")
            counted = failures if isinstance(failures, int) and not isinstance(failures, bool) else None
            found[key] = CheckResult(status, _completed(result) or at, counted)
    return replace(known, results=found)


def freshness_in(data: Any) -> dict[str, Freshness]:
    """Return the freshness of sources by unique id, from the content of sources.json."""
    written = time_from(_object(data, "metadata").get("generated_at"))
    found: dict[str, Freshness] = {}
    for key, result in _results(data):
        status = _OF_SOURCES.get(str(result.get("status")))
        at = time_from(result.get("snapshotted_at")) or written
        if status is not None and at is not None:
            found[key] = Freshness(status, at, time_from(result.get("max_loaded_at")))
    return found


def _results(data: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    results = data.get("results") if isinstance(data, dict) else None
    for result in results if isinstance(results, list) else ():
        key = result.get("unique_id") if isinstance(result, dict) else None
        if isinstance(key, str):
            yield key, result


def _completed(result: Mapping[str, Any]) -> datetime | None:
    timing = result.get("timing")
    times = (time_from(one.get("completed_at")) for one in timing or () if isinstance(one, dict))
    return max((at for at in times if at is not None), default=None)


def _object(data: Any, name: str) -> dict[str, Any]:
    found = data.get(name) if isinstance(data, dict) else None
    return found if isinstance(found, dict) else {}


def time_from(text: Any) -> datetime | None:
    """Return a time of an artifact, in UTC; None if there is none."""
    try:
        found = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    if found is None:
        return None
    return found.astimezone(UTC) if found.tzinfo is not None else found.replace(tzinfo=UTC)
