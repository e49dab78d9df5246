"""One HTML file with what a soak measured: curves as SVG, and the tables behind them."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from tests.soak.limit import Limit
from tests.soak.minutes import Minute

__all__ = ["write_report"]

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 860, 220, 60, 24
_COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd")
_CURVES = (
    ("Latency, ms (95 % of the answers are faster)", ("impact_p95", "search_p95", "events_p95")),
    ("Latency, ms (all requests)", ("all_p50", "all_p95", "all_p99")),
    ("Memory of the service, and size of the store, MB", ("service_mb", "store_mb")),
    ("Answers per second", ("requests_per_second",)),
    ("Errors per minute", ("errors",)),
    ("Processors that the service uses", ("processors",)),
)
_STYLE = "body{font:15px sans-serif;max-width:900px;margin:2em auto}td,th{padding:2px 8px;text-align:right}"


def write_report(path: Path, title: str, minutes: Sequence[Minute], limit: Limit | None) -> None:
    """Write the report; it needs no other file."""
    parts = [f"<h1>{html.escape(title)}</h1>"]
    if limit is not None:
        parts.append(_of_limit(limit))
    if minutes:
        parts += [f"<h2>{name}</h2>{_curve(minutes, series)}" for name, series in _CURVES]
        parts.append(_table(minutes))
    page = f"<!doctype html><meta charset=utf-8><title>{html.escape(title)}</title><style>{_STYLE}</style>"
    path.write_text(page + "\n".join(parts), encoding="utf-8")


def _of_limit(limit: Limit) -> str:
    rows = "".join(
        f"<tr><td>{one.rate:g}<td>{one.minute.all_p50:g}<td>{one.minute.all_p95:g}<td>{one.minute.errors}"
        f"<td>{one.minute.processors}<td style='text-align:left'>{html.escape(one.broken or 'holds')}"
        for one in sorted(limit.steps, key=lambda one: one.rate)
    )
    head = "<tr><th>rate<th>p50, ms<th>p95, ms<th>errors<th>processors<th>"
    said = f"It holds {limit.held:g} requests a second, not {limit.broken:g}: {html.escape(limit.first.broken)}."
    return f"<h2>The limit</h2><p>{said}</p><table>{head}{rows}</table>"


def _curve(minutes: Sequence[Minute], series: Sequence[str]) -> str:
    longest = max(one.minute for one in minutes) or 1.0
    highest = max(float(getattr(one, name)) for one in minutes for name in series) or 1.0
    lines = []
    for colour, name in zip(_COLOURS, series, strict=False):
        points = " ".join(
            f"{_LEFT + one.minute / longest * (_WIDTH - _LEFT):.1f},"
            f"{(1 - getattr(one, name) / highest) * (_HEIGHT - _BOTTOM):.1f}"
            for one in minutes
        )
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
    names = " ".join(
        f'<tspan fill="{colour}">{name.replace("_", " ")}</tspan>'
        for colour, name in zip(_COLOURS, series, strict=False)
    )
    base = _HEIGHT - _BOTTOM
    axes = (
        f'<line x1="{_LEFT}" y1="{base}" x2="{_WIDTH}" y2="{base}" stroke="#999"/>'
        f'<line x1="{_LEFT}" y1="0" x2="{_LEFT}" y2="{base}" stroke="#999"/>'
        f'<text x="{_LEFT - 5}" y="12" text-anchor="end">{highest:,.4g}</text>'
        f'<text x="{_LEFT - 5}" y="{base}" text-anchor="end">0</text>'
        f'<text x="{_WIDTH}" y="{_HEIGHT - 6}" text-anchor="end">{longest:g} minutes</text>'
        f'<text x="{_LEFT + 8}" y="{_HEIGHT - 6}">{names}</text>'
    )
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" font-size="12">{axes}{"".join(lines)}</svg>'


def _table(minutes: Sequence[Minute]) -> str:
    names = [one.name for one in fields(Minute)]
    head = "".join(f"<th>{name.replace('_', ' ')}" for name in names)
    rows = "".join(f"<tr>{''.join(f'<td>{getattr(one, name)}' for name in names)}" for one in minutes)
    return f"<details><summary>All figures</summary><table><tr>{head}{rows}</table></details>"
