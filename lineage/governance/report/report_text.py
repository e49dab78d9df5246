"""A report as text: Markdown, rows for CSV and tables, and one HTML page that can be printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2

from lineage.governance.exposure import EXPOSURES, Exposure
from lineage.governance.report.pii_report import Holder, PiiReport, SourceColumn
from lineage.model.text.visible_text import visible_line

__all__ = ["REPORT_COLUMNS", "html_page", "markdown", "report_rows", "summary_sentences"]

REPORT_COLUMNS = (
    "source", "classes", "column", "table", "exposure", "confidence", "hops", "since", "verdict", "reads", "users",
    "last read", "warehouse", "proof",
)  # fmt: skip
_COLOURS = {
    Exposure.UNMASKED: "#b3261e",
    Exposure.PARTIAL: "#b86e00",
    Exposure.AGGREGATED: "#2f6fb3",
    Exposure.MASKED: "#2e7d4f",
}
_WORDS = {
    Exposure.UNMASKED: "as they are",
    Exposure.PARTIAL: "in part",
    Exposure.AGGREGATED: "summed up",
    Exposure.MASKED: "masked",
}


def report_rows(report: PiiReport) -> list[tuple[object, ...]]:
    """Return a row for each source, and for each column that it reaches."""
    return [_row(source, holder, knows_readers=report.knows_readers) for source, holder in report.rows]


def summary_sentences(report: PiiReport) -> list[str]:
    """Return what a manager reads first."""
    classes = f" ({', '.join(report.classes)})" if report.classes else ""
    sources = len(report.sources)
    sentences = [
        f"{_counted(sources, 'column')} {'holds' if sources == 1 else 'hold'} personal data at the source{classes}."
    ]
    reached = sum(report.exposed.values())
    kinds = ", ".join(f"{number:,} {_WORDS[exposure]}" for exposure, number in report.exposed.items() if number)
    sentences.append(
        f"The values reach {_counted(reached, 'other column')} in {_counted(len(report.tables), 'table')}: {kinds}."
        if reached
        else "The values reach no other column that is known."
    )
    # A column that also shows a value without a mask is not masked.
    bare = {one.key for _, one in report.rows if one.exposure is not Exposure.MASKED and not one.protection.is_masked}
    protected = {one.key: one.protection for _, one in report.rows if one.protection.is_masked and one.key not in bare}
    if protected:
        unknown = sum(any(mask.roles is None for mask in one.masks) for one in protected.values())
        for_whom = f"; of {unknown:,}, for whom is not known" if unknown else ""
        sentences.append(f"The warehouse masks {_counted(len(protected), 'column')} by policies{for_whom}.")
    if report.breakers:
        sentences.append(f"What people say is anonymous counts as masked: {'; '.join(report.breakers)}.")
    if report.has_policy:
        verdicts = ", ".join(f"{verdict} {number:,}" for verdict, number in report.verdicts.items())
        sentences.append(f"Columns by what the policy says: {verdicts}.")
    if report.blind_spots:
        sentences.append(
            f"What this report cannot know: {'; '.join(f'{one.what} ({one.why})' for one in report.blind_spots)}."
        )
    return sentences


def markdown(report: PiiReport) -> str:
    """Return the report in Markdown."""
    lines = [f"# Personal data, {report.at:%Y-%m-%d %H:%M} UTC", "", *_bullets(map(_plain, summary_sentences(report)))]
    for source, holder in report.denied:
        lines += [*([] if "## Not allowed" in lines else ["", "## Not allowed", ""])]
        lines.append(f"- {_code(holder.name)}: {holder.exposure}, from {_code(source.name)}{_ruling(holder)}")
    for source in report.sources:
        lines += [
            "",
            f"## {_code(source.name)}",
            "",
            *_bullets(_tag_sentences(source, knows_readers=report.knows_readers)),
            "",
        ]
        if source.holders:
            lines += [
                "| column | shows | confidence | hops | since | readers | last read | policy |",
                "|---|---|--:|--:|---|---|---|---|",
            ]
            lines += (_table_line(one) for one in source.holders)
        lines += _paths(source)
        lines += _further(source)
    return "\n".join(lines) + "\n"


def html_page(report: PiiReport) -> str:
    """Return the report as one HTML page without anything from elsewhere."""
    widest = max(report.exposed.values(), default=0) or 1
    bars = [
        {
            "name": str(one), "number": report.exposed[one], "width": round(260 * report.exposed[one] / widest),
            "colour": _COLOURS[one],
        }
        for one in EXPOSURES
    ]  # fmt: skip
    return _page().render(report=report, sentences=summary_sentences(report), bars=bars)


@cache
def _page() -> jinja2.Template:
    text = files("lineage.governance.report").joinpath("report.html.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["shown"] = lambda text: visible_line(str(text))
    return environment.from_string(text)


def _row(source: SourceColumn, holder: Holder, *, knows_readers: bool) -> tuple[object, ...]:
    classes = [one.name for one in source.tags]
    last = holder.usage.last_read
    proof = "; ".join(f"{step.proof.place}: {' → '.join(step.proof.sql)}" for step in holder.path)
    return (
        source.name, classes, holder.name, holder.table, str(holder.exposure), f"{holder.confidence:.2f}", holder.hops,
        _day(holder.since), str(holder.verdict), holder.usage.reads if knows_readers else None, holder.users,
        _day(last), list(holder.protection.sentences), proof,
    )  # fmt: skip


def _day(at: datetime | None) -> str | None:
    return f"{at:%Y-%m-%d}" if at else None


def _tag_sentences(source: SourceColumn, *, knows_readers: bool) -> Iterator[str]:
    for tag in source.tags:
        by = f" by {_plain(tag.stated_by)}" if tag.stated_by else ""
        at = f" on {tag.at:%Y-%m-%d}" if tag.at.year > 1970 else ""
        why = f": {_plain(tag.why)}" if tag.why else ""
        yield f"**{_plain(tag.name)}** ({tag.confidence:.2f}), {_plain(tag.source)}{by}{at}{why}"
    own = source.own
    read = f"read {_counted(own.usage.reads, 'time')}{_users(own)}" if knows_readers else "who read it is not known"
    yield f"{read}{_ruling(own)}"
    yield from (f"in the warehouse: {_plain(one)}" for one in own.protection.sentences)


def _table_line(holder: Holder) -> str:
    verdict = str(holder.verdict) if holder.rulings else ""
    shows = "; ".join((str(holder.exposure), *map(_plain, holder.protection.sentences)))
    cells = (
        _code(holder.name),
        shows,
        f"{holder.confidence:.2f}",
        holder.hops,
        _day(holder.since) or "",
        _plain(", ".join(holder.users)),
        _day(holder.usage.last_read) or "",
        verdict,
    )
    return f"| {' | '.join(map(str, cells))} |"


def _paths(source: SourceColumn) -> Iterator[str]:
    if source.holders:
        yield from ("", "How each is reached:", "")
    for one in source.holders:
        yield f"- {_code(one.name)}"
        for step in one.path:
            sql = " → ".join(map(_code, step.proof.sql))
            way = f"{_code(step.source)} → {_code(step.target)}, {step.exposure}"
            yield f"  - {way}: {sql} ({_plain(step.proof.place)})"


def _further(source: SourceColumn) -> Iterator[str]:
    if source.influenced:
        yield from ("", "It decides, without its value, about:", "")
        for one in source.influenced:
            yield f"- {_code(one.name)}, by {_code(one.by)} ({', '.join(one.how)}){', masked' if one.masked else ''}"
    if source.stopped:
        yield from ("", "Not followed into columns marked as no personal data:", "")
        yield from (f"- {_code(name)}" for name in source.stopped)
    if source.possibly:
        yield from ("", "Tables that may hold it, written by SQL whose columns are not known:", "")
        yield from (f"- {_code(name)}" for name in source.possibly)


def _users(holder: Holder) -> str:
    number = _counted(holder.usage.users.distinct, "user")
    return f" by {number} ({_plain(', '.join(holder.users))})" if holder.users else ""


def _ruling(holder: Holder) -> str:
    said = [
        f"{ruling.verdict} {ruling.name}"
        + "".join(f", {name.replace('_', ' ')}: {text}" for name, text in ruling.entry.record.items())
        for ruling in holder.rulings
        if ruling.entry is not None
    ]
    return f"; policy: {_plain('; '.join(said))}" if said else ""


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _bullets(sentences: Any) -> list[str]:
    return [f"- {one}" for one in sentences]


def _plain(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", visible_line(text))


def _code(text: str) -> str:
    shown = visible_line(text).replace("|", "\\|")
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"
