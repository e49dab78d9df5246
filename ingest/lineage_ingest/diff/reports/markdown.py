"""A diff as a comment on a pull request; its hidden first line is how the next run finds the comment to replace."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lineage.model.text.visible_text import visible
from lineage_ingest.diff.definitions.classification import TableDiff, TableEffect
from lineage_ingest.diff.project_diff import ProjectDiff
from lineage_ingest.diff.reports.selection import dbt_commands, full_refresh_names, rebuild_names
from lineage_ingest.diff.reports.wording import all_columns, groups_of, headline, reader_lines, what_else

__all__ = ["MARKER", "diff_to_markdown"]

MARKER = "<!-- lineage-diff -->"
"""The first line of every comment."""

_ROWS = 60
"""Maximum number of rows of a table: GitHub takes 65,536 characters."""
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def diff_to_markdown(diff: ProjectDiff) -> str:
    """Return the comment."""
    return "\n".join(_lines(diff)) + "\n"


def _lines(diff: ProjectDiff) -> Iterator[str]:
    yield MARKER
    yield f"### Lineage: {headline(diff)}"
    yield ""
    if diff.edited:
        yield from _edited(diff)
    if diff.affected:
        yield from _affected(diff)
    if diff.consumers:
        yield "**Dashboards and other consumers**"
        yield ""
        for consumer in diff.consumers[:_ROWS]:
            name = f"[{_text(consumer.name)}](<{_link(consumer.url)}>)" if consumer.url else _text(consumer.name)
            owner = f", owner {_text(consumer.owner)}" if consumer.owner else ""
            yield f"- {consumer.kind.replace('_', ' ')} {name}{owner}: {_text(consumer.effect)}"
        yield from _rest(len(diff.consumers))
        yield ""
    lines = list(what_else(diff))
    if lines:
        yield "**Look at this**"
        yield ""
        yield from (f"- {_text(line)}" for line in lines[:_ROWS])
        yield from _rest(len(lines))
        yield ""
    yield from _rebuild(diff)
    if diff.cosmetic:
        names = ", ".join(_text(one.title) for one in diff.cosmetic[:_ROWS])
        yield f"Cosmetic only: {names}{' …' if len(diff.cosmetic) > _ROWS else ''}"


def _edited(diff: ProjectDiff) -> Iterator[str]:
    yield "| table | columns | change | risk |"
    yield "|---|---|---|---|"
    rows = [(table, *group) for table in diff.edited for group in _groups(diff, table)]
    for table, names, change, risk in rows[:_ROWS]:
        yield f"| {_title(table)} | {_text(names)} | {_text(change)} | {_text(risk)} |"
    yield ""
    yield from _rest(len(rows))
    lines = list(reader_lines(diff))
    yield from (f"- {_text(line)}" for line in lines[:_ROWS])
    yield from _rest(len(lines))
    yield ""


def _groups(diff: ProjectDiff, table: TableDiff) -> Iterator[tuple[str, str, str]]:
    if table.effect in (TableEffect.ADDED, TableEffect.REMOVED):
        yield all_columns(len(table.columns)), f"table {table.effect}", str(diff.risk_of_table(table))
        return
    if table.effect is TableEffect.RENAMED:
        yield "", f"table renamed from {table.earlier}", str(diff.risk_of_table(table))
    if table.reasons:
        yield "", "; ".join(table.reasons), ""
    for names, change, risk in groups_of(diff, table):
        yield names, change, str(risk)


def _affected(diff: ProjectDiff) -> Iterator[str]:
    yield "<details><summary>Affected downstream</summary>"
    yield ""
    yield "| table | columns | change |"
    yield "|---|---|---|"
    rows = [(table, *group) for table in diff.affected for group in groups_of(diff, table)]
    for table, names, change, _ in rows[:_ROWS]:
        yield f"| {_title(table)} | {_text(names)} | {_text(change)} |"
    yield ""
    yield from _rest(len(rows))
    yield "</details>"
    yield ""


def _rebuild(diff: ProjectDiff) -> Iterator[str]:
    names, whole = rebuild_names(diff), full_refresh_names(diff)
    if diff.modified is None:
        if names or whole:
            yield f"Rebuild: {_text(', '.join([*names, *whole]))}"
            yield ""
        return
    yield (
        f"**Rebuild {len(names) + len(whole)}** (`state:modified+` chooses {len(diff.modified)})"
        f"{f', {len(whole)} with a full refresh' if whole else ''}; **{len(diff.tests)} tests**"
    )
    yield ""
    commands = dbt_commands(diff)
    if commands:
        yield "```sh"
        yield from (visible(command) for command in commands)
        yield "```"
        yield ""


def _title(table: TableDiff) -> str:
    return f"`{visible(table.title).replace('`', '').replace('|', chr(92) + '|')}`"


def _rest(count: int) -> Iterator[str]:
    if count > _ROWS:
        yield f"… and {count - _ROWS:,} more"
        yield ""


def _text(text: object) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", visible(str(text)).replace("\n", " ")).replace("@", "@\u200b")


def _link(url: str) -> str:
    return visible(url).replace("<", "%3C").replace(">", "%3E").replace(" ", "%20")
