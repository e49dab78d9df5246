"""What each run of dbt writes into compiled SQL anew is no edit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineage_ingest import ProjectDiff, diff_revisions
from tests.dbt.manifests import manifest, model, relation, source, write

RAW = source("orders", {"id": "int", "amount": "int"})
IDS = ("0b1f9a52-3c4d-4e5f-8a9b-0c1d2e3f4a5b", "77aa0000-1111-4222-8333-444455556666")
STARTS = ("2026-03-01 05:59:30.123456+00:00", "2026-03-04 11:20:01.000321+00:00")
ENDS = ("2026-03-01T06:00:00Z", "2026-03-04T11:21:00Z")


def compiled(template: str, number: int, start: str = "") -> str:
    """Return a template as one of two runs compiles it."""
    start = start or STARTS[number]
    known = {
        "invocation_id": IDS[number], "run_started_at": start, 'run_started_at.strftime("%Y-%m-%d")': start[:10],
        'run_started_at.strftime("%Y%m%dT%H%M%S")': start[:19].replace("-", "").replace(":", "").replace(" ", "T"),
        "run_started_at.isoformat()": start.replace(" ", "T"), 'var("day")': start[:10], "1": "1",
    }  # fmt: skip
    for name, value in known.items():
        template = template.replace(f"{{{{ {name} }}}}", value)
    return template


def diff(tmp_path: Path, templates: tuple[str, str], texts: tuple[str, str] | None = None) -> ProjectDiff:
    """Compare two runs of a project with a model of this template, and one that reads it."""
    sides = []
    for number, template in enumerate(templates):
        text = texts[number] if texts is not None else compiled(template, number)
        loaded = model("loaded", text, RAW["unique_id"], raw_code=template)
        counted = model("counted", f"select count(*) as n, max(at) as at from {relation('loaded')}", "loaded")
        data: dict[str, Any] = manifest(RAW, loaded, counted, at=ENDS[number])
        data["metadata"]["invocation_id"] = IDS[number]
        sides.append(write(tmp_path / str(number), data))
    return diff_revisions(*sides)


@pytest.mark.parametrize(
    "value",
    [
        "'{{ invocation_id }}'",
        "'{{ run_started_at }}'::timestamptz",
        "date '{{ run_started_at.strftime(\"%Y-%m-%d\") }}'",
        "'{{ run_started_at.isoformat() }}'",
        "'{{ invocation_id }}/{{ run_started_at.strftime(\"%Y-%m-%d\") }}'",
    ],
)
def test_another_run_is_no_edit(tmp_path: Path, value: str) -> None:
    template = f"select id, {value} as at from wh.raw.orders"
    found = diff(tmp_path, (template, template))
    assert (found.edited, found.affected, found.rebuild) == ([], [], [])


def test_an_edit_beside_it_is_found(tmp_path: Path) -> None:
    templates = (
        "select id, '{{ run_started_at }}' as at from wh.raw.orders",
        "select amount as id, '{{ run_started_at }}' as at from wh.raw.orders",
    )
    found = diff(tmp_path, templates)
    [loaded] = found.edited
    assert [one.name for one in loaded.columns if one.is_content] == ["id"]
    assert found.affected == []


@pytest.mark.parametrize(
    "templates",
    [
        ("select '{{ run_started_at }}' as at", "select '{{ run_started_at.strftime(\"%Y-%m-%d\") }}' as at"),
        ("select '2026-03-01' as at -- {{ run_started_at }}", "select '2026-03-04' as at -- {{ run_started_at }}"),
        ("select '2026-03-01' as at", "select '2026-03-04' as at"),
        ("select '{{ run_started_at }}' as at", "select '{{ run_started_at }}' || '' as at"),
        ("select '{{ var(\"day\") }}' as at -- {{ run_started_at }}",) * 2,
        ("select '{{ invocation_id }}' as at", "select '{{ invocation_id }}' || '' as at"),
    ],
    ids=["another format", "a date of the template", "no time of a run", "more", "a variable", "more of an id"],
)
def test_other_values_are_compared(tmp_path: Path, templates: tuple[str, str]) -> None:
    [edited] = diff(tmp_path, templates).edited
    assert edited.title == "loaded"


def test_a_time_long_before_the_run_is_another_value(tmp_path: Path) -> None:
    template = "select '{{ run_started_at }}' as at"
    texts = (compiled(template, 0), compiled(template, 1, "2025-12-31 00:00:00"))
    assert [one.title for one in diff(tmp_path, (template, template), texts).edited] == ["loaded"]
