"""A plan to erase a person as a SQL script: comments say why, nothing runs by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lineage.governance.erasure.erasure_plan import ErasurePlan, ErasureStep
from lineage.model.text.visible_text import visible_line

__all__ = ["check_script", "erasure_script", "plan_values"]


def erasure_script(plan: ErasurePlan) -> str:
    """Return the whole plan as SQL with comments. The person's key is the parameter `:key`."""
    return "\n".join(_lines(plan)) + "\n"


def check_script(plan: ErasurePlan) -> str:
    """Return the queries that count what is left: each has to return 0, but for tables whose rows are kept."""
    lines = [f"-- {_comment(step.table)}{_kept(step)}\n{step.count}" for step in plan.steps]
    return "\n".join(lines) + "\n"


def plan_values(plan: ErasurePlan) -> dict[str, Any]:
    """Return the plan as JSON values."""
    return {
        "column": plan.column,
        "key": plan.key,
        "value_query": plan.value_query,
        "steps": [
            {
                "table": one.table, "count": one.count, "statement": one.statement, "how": one.how, "sure": one.is_sure,
                "proof": one.proof.to_dict() if one.proof else None, "rebuilt_by": list(one.rebuilt_by),
            }
            for one in plan.steps
        ],
        "views": list(plan.views),
        "out_of_reach": [
            {
                "table": one.table, "columns": list(one.columns), "exposure": str(one.exposure), "why": one.why,
                "remedy": one.remedy,
            }
            for one in plan.out_of_reach
        ],
        "unknown": list(plan.unknown),
    }  # fmt: skip


def _lines(plan: ErasurePlan) -> Iterator[str]:
    yield f"-- Erase the person whose {_comment(plan.key)} is :key. A plan: read it, then run it in a transaction."
    unsure = sum(not one.is_sure for one in plan.steps)
    if unsure:
        yield f"-- {unsure} of {len(plan.steps)} steps are marked CHECK: only a name, or what SQL computes, says that."
    yield f"-- What is to be erased ({_comment(plan.column)}), to search for it afterwards:"
    yield plan.value_query
    for number, step in enumerate(plan.steps, start=1):
        yield ""
        yield f"-- {number}. {_comment(step.table)}: {_comment(step.how)}{'' if step.is_sure else '  -- CHECK'}"
        if step.proof is not None and step.proof.sql:
            yield f"--    {_comment(step.proof.place)}: {_comment(' -> '.join(step.proof.sql))}"
        for job in step.rebuilt_by:
            yield f"--    made by {_comment(job)}: it brings rows back if its sources still have them"
        yield step.count
        yield step.statement
        yield step.count + ("" if _kept(step) else "  -- must be 0")
    if plan.views:
        yield ""
        yield "-- Views, which follow their tables:"
        yield from (f"--   {_comment(one)}" for one in plan.views)
    if plan.out_of_reach:
        yield ""
        yield "-- Not reached by these statements:"
        for one in plan.out_of_reach:
            columns = f" ({', '.join(one.columns)})" if one.columns else ""
            yield f"--   {_comment(one.table + columns)}, {one.exposure}: {_comment(one.why)}; {_comment(one.remedy)}"
    yield ""
    yield "-- Not known here:"
    yield from (f"--   {_comment(one)}" for one in plan.unknown)


def _kept(step: ErasureStep) -> str:
    return "" if step.statement.startswith("DELETE") else " (its rows are kept)"


def _comment(text: str) -> str:
    """Return a text on one line, so that nothing of it can leave a comment."""
    return visible_line(" ".join(text.split()))
