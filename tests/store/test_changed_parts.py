"""A batch of which only the changed part is planned has the effect of the whole batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from lineage.model.batch import DatasetRecord, DiagnosticRecord, JobKind, LineageBatch
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.names import dataset_of
from lineage.store import GraphStore
from lineage.store.planning.chunking.unchanged import changed_part
from tests.store.batch_builders import JobWithEdges, batch, day, drop, job, key, query, table
from tests.store.test_unchanged_jobs import state

Part = JobWithEdges | DatasetRecord


def files(at: float, *changed: Part, gone: str = "") -> LineageBatch:
    """Return the batch of three files: `a` reads `t`, `b` reads `a`, `c` reads `t` and writes `a`, too."""
    parts: dict[str, Part] = {
        "job a": job("file:@a.sql>@a", "@t.x -> @a.x", "@t.y ~> @a", at=at, source="@a.sql"),
        "job b": job("file:@b.sql>@b", "@a.x -> @b.x", at=at, source="@b.sql"),
        "job c": job("file:@c.sql>@a", "@t.y -> @a.y", "@t.z -> @a.z", at=at, source="@c.sql"),
        "table t": table("@t", "x", "y", "z"),
        "table a": table("@a", "x", "y", "z"),
        "table b": table("@b", "x"),
    }
    for one in changed:
        parts[f"table {one.name[1:]}" if isinstance(one, DatasetRecord) else f"job {one.job.key[6]}"] = one
    parts.pop(gone, None)
    sources = [f"@{name}.sql" for name in "abcd"]
    found = batch(*parts.values(), at=at, run=f"@{at}", files=sources)
    problem = Diagnostic(DiagnosticCode.UNKNOWN_COLUMN, Severity.WARNING, "no column")
    problems = [
        DiagnosticRecord(problem, str(one.source), one.key) for one in found.jobs if one.key != "file:@b.sql>@b"
    ]
    return replace(found, diagnostics=tuple(problems))


AFTER: dict[str, LineageBatch] = {
    "nothing": files(3),
    "an expression": files(3, job("file:@b.sql>@b", "@a.y -> @b.x", at=3, source="@b.sql")),
    "a reader more": files(3, job("file:@d.sql>@d", "@t.x -> @d.x", at=3, source="@d.sql")),
    "a reader of another column": files(3, job("file:@b.sql>@b", "@a.w -> @b.x", at=3, source="@b.sql")),
    "a column less": files(3, table("@t", "x", "y")),
    "a column of two definitions less": files(3, table("@a", "x", "y")),
    "a writer less": files(3, gone="job c"),
    "a writer and its column less": files(3, table("@a", "x"), gone="job c"),
    "a reader less": files(3, gone="job b"),
    "a schema less": files(3, gone="table t"),
}
LATE: dict[str, Callable[[str], LineageBatch]] = {
    "nothing": lambda p: batch(query(f"{p}q", at=8)),
    "a drop between": lambda p: batch(drop(f"{p}a", at=2)),
    "an older schema": lambda p: batch(table(f"{p}t", "x", "z", at=2)),
    "an older definition": lambda p: batch(
        job(f"file:{p}a.sql>{p}a", f"{p}t.z -> {p}a.x", at=2, source=f"{p}a.sql"), files=[f"{p}a.sql"]
    ),
}


def named(given: LineageBatch, prefix: str) -> LineageBatch:
    """Return a batch with a prefix for `@`."""

    def text(value: object) -> object:
        if isinstance(value, str) and type(value) is str:
            return value.replace("@", prefix)
        return tuple(map(text, value)) if type(value) is tuple else value

    def fields(one: object) -> object:
        names = one.__dataclass_fields__  # type: ignore[attr-defined]
        return replace(one, **{name: text(getattr(one, name)) for name in names})  # type: ignore[type-var]

    parts = {name: tuple(map(fields, getattr(given, name))) for name in ("datasets", "jobs", "edges", "diagnostics")}
    sources = tuple(str(text(one)) for one in given.complete_sources)
    return replace(given, run=fields(given.run), complete_sources=sources, **parts)  # type: ignore[arg-type]


def unchanged(before: LineageBatch, after: LineageBatch) -> tuple[set[str], set[str]]:
    """Return the jobs that two batches state alike but for the time, and the datasets that no other job names."""

    def said(given: LineageBatch) -> dict[str, object]:
        return {
            one.key: (replace(one, first_seen=day(0), last_seen=day(0)), [e for e in given.edges if e.job == one.key])
            for one in given.jobs
        }

    old, new = said(before), said(after)
    jobs = {name for name in new if old.get(name) == new[name]}
    others = [edge for given in (before, after) for edge in given.edges if edge.job not in jobs]
    touched = {name for edge in others for name in (dataset_of(edge.source), edge.output)}
    records = [{one.key: one for one in given.datasets} for given in (before, after)]
    named_now = {name for edge in after.edges for name in (dataset_of(edge.source), edge.output)} | records[1].keys()
    return jobs, {one for one in named_now - touched if records[0].get(one) == records[1].get(one)}


@pytest.mark.parametrize("late", LATE)
@pytest.mark.parametrize("change", AFTER)
def test_the_changed_part_has_the_effect_of_the_batch(store: GraphStore, change: str, late: str) -> None:
    skipped = 0
    for prefix in ("some_", "stated_"):  # a change of any table would be noticed
        before, after = named(files(1), prefix), named(AFTER[change], prefix)
        store.apply(before)
        jobs, datasets = unchanged(before, after)
        if prefix == "some_":
            assert not store.is_seen_after(jobs, datasets, day(1))
            store.see_again(jobs, datasets, day(1), day(3))
            part = changed_part(after, jobs, datasets)
            skipped = len(part.unchanged)
            assert len(part.batch.jobs) + skipped == len(after.jobs)
            store.apply(part)
        else:
            store.apply(after)
        store.apply(LATE[late](prefix))
    assert skipped > 0
    assert state(store, "some_") == state(store, "stated_")
    assert _runs_and_problems(store, "some_") == _runs_and_problems(store, "stated_")


def _runs_and_problems(store: GraphStore, prefix: str) -> str:
    dump = store.dump()
    runs = [one for one in store.runs(9) if prefix in one.key]
    observed = [one for one in dump.relationships if one[0] == "OBSERVED" and prefix in one[1]]
    problems = [one for one in store.diagnostics() if prefix in one.source]
    return "\n".join(map(str, (runs, observed, problems))).replace(prefix, "")


def test_datasets_that_stated_jobs_name_are_not_left_out() -> None:
    after = named(AFTER["an expression"], "")
    part = changed_part(after, {"file:a.sql>a", "file:c.sql>a"}, {key("a"), key("t")})
    assert [one.key for one in part.batch.jobs] == ["file:b.sql>b"]
    assert sorted(one.key for one in part.batch.datasets) == [key("a"), key("b")]
    references = {one.name_then: one for one in part.references or ()}
    assert sorted(references) == [key("a"), key("b")]
    assert sorted(references[key("a")].columns) == ["x", "y", "z"]
    assert references[key("a")].written == day(3)
    assert part.batch.jobs[0].kind is JobKind.SQL_FILE
