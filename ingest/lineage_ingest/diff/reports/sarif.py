"""A diff as SARIF 2.1.0: one result for each change of a column, at the file that defines its table.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from lineage import __version__
from lineage.model.text.visible_text import visible
from lineage_ingest.diff.definitions.classification import ColumnEffect, TableDiff, TableEffect
from lineage_ingest.diff.project_diff import FailCondition, ProjectDiff, shown_column
from lineage_ingest.diff.reports.wording import change_of, groups_of

__all__ = ["diff_to_sarif"]

_CONDITIONS = {
    ColumnEffect.REMOVED: FailCondition.REMOVED,
    ColumnEffect.RENAMED: FailCondition.REMOVED,
    ColumnEffect.TYPE: FailCondition.TYPE,
    ColumnEffect.UNMASKED: FailCondition.UNMASKED,
    ColumnEffect.VALUE: FailCondition.VALUE,
    ColumnEffect.ROWS: FailCondition.VALUE,
}
_RULES = {
    **{str(effect).replace(" ", "-"): f"A column: {effect}" for effect in ColumnEffect
       if effect is not ColumnEffect.COSMETIC},
    "definition-changed": "A table's definition or settings are edited",
    "missing-column": "A column is read that does not exist",
    "personal-data": "Personal data flows to a column that had none",
    "consumer": "A dashboard or another consumer reads what changes",
}  # fmt: skip


def diff_to_sarif(diff: ProjectDiff, fail_on: Sequence[FailCondition] = ()) -> dict[str, Any]:
    """Return the SARIF log; what `fail_on` names is an error, the rest a warning, and what is added a note."""
    driver = {
        "name": "lineage diff",
        "version": __version__,
        "rules": [{"id": key, "shortDescription": {"text": text}} for key, text in _RULES.items()],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "invocations": [_invocation(diff)],
                  "results": list(_results(diff, set(fail_on)))}],
    }  # fmt: skip


def _invocation(diff: ProjectDiff) -> dict[str, Any]:
    """Return whether all of the input was read, with the notices: without results, nothing need have been found."""
    listed = [{"level": "error" if text in diff.errors else "note", "message": {"text": visible(text)}}
              for text in diff.notices]  # fmt: skip
    return {
        "executionSuccessful": not diff.has_errors,
        "toolExecutionNotifications": listed,
    }


def _results(diff: ProjectDiff, fail_on: set[FailCondition]) -> Iterator[dict[str, Any]]:
    for table in (*diff.edited, *diff.affected):
        yield from _of_table(table, fail_on)
        by_change = {(change_of(table, one)): one for one in table.columns if one.is_content}
        for names, change, risk in groups_of(diff, table):
            column = by_change[change]
            error = any(_CONDITIONS.get(one) in fail_on for one in column.effects)
            level = "error" if error else "note" if column.effect is ColumnEffect.ADDED else "warning"
            rule = str(column.effect).replace(" ", "-")
            yield _result(table, rule, level, f"{table.title}: {names}: {change} ({risk})", shown_column(column.name))
    by_name = {one.name: one for one in diff.tables.values()}
    for missing in diff.missing:
        found = by_name.get(missing.table)
        text = f"{missing.table} reads {missing.name}, which does not exist any more"
        yield _result(found, "missing-column", "error", text, missing.name)
    for carrier in diff.carriers:
        level = "error" if FailCondition.PII in fail_on else "warning"
        yield _result(by_name.get(carrier.table), "personal-data", level, str(carrier), carrier.column)
    for consumer in diff.consumers:
        level = "error" if FailCondition.EXPOSURE in fail_on else "note"
        owner = f" (owner {consumer.owner})" if consumer.owner else ""
        text = f"{consumer.kind} {consumer.name}{owner} {consumer.effect}"
        yield _result(None, "consumer", level, text, consumer.key)


def _of_table(table: TableDiff, fail_on: set[FailCondition]) -> Iterator[dict[str, Any]]:
    """Yield what happens to a table that no column says."""
    level = "error" if FailCondition.REMOVED in fail_on else "warning"
    if table.effect is TableEffect.RENAMED:
        yield _result(table, "renamed", level, f"{table.title}: table renamed from {table.earlier}", "")
    elif table.effect is TableEffect.REMOVED and not table.columns:
        yield _result(table, "removed", level, f"{table.title}: table removed", "")
    elif table.reasons and not any(column.is_content for column in table.columns):
        yield _result(table, "definition-changed", "note", f"{table.title}: {'; '.join(table.reasons)}", "")


def _result(table: TableDiff | None, rule: str, level: str, text: str, subject: str) -> dict[str, Any]:
    result: dict[str, Any] = {"ruleId": rule, "level": level, "message": {"text": visible(text)}}
    if table is not None and table.source:
        place = {"artifactLocation": {"uri": quote(table.source)}, "region": {"startLine": 1}}
        result["locations"] = [{"physicalLocation": place}]
    result["partialFingerprints"] = {"lineage/v1": f"{table.key if table else ''}#{visible(subject)}#{rule}"}
    return result
