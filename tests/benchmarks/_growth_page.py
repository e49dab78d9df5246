"""What grows how: a table and a picture of the figures, and their place in the documentation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["exponent", "picture", "table", "write_page"]

DOCS = Path(__file__).parents[2] / "docs"
PAGE, PICTURE = DOCS / "growth.md", DOCS / "growth.svg"
_BEGIN, _END = "<!-- table: written by make growth -->", "<!-- end of the table -->"
_COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#8c564b")
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 430, 330, 58, 118, 34, 46
Figures = Mapping[str, Any]


class _Line(NamedTuple):
    """A row of the table: of which stage, and the figure of a scale."""

    name: str
    stage: str
    figure: str
    unit: str


_LINES = (
    _Line("extraction", "extraction", "seconds", "s"),
    _Line("", "extraction", "cpu_seconds", "s of a processor"),
    _Line("", "extraction", "peak_mb", "MB"),
    _Line("ingest, all projects", "ingest", "seconds", "s"),
    _Line("", "ingest", "cpu_seconds", "s of a processor"),
    _Line("", "ingest", "peak_mb", "MB"),
    _Line("ingest, the last project", "ingest", "last_run_cpu_seconds", "s of a processor"),
    _Line("the store's file", "ingest", "store_mb", "MB"),
    _Line("propagation of tags", "propagation", "seconds", "s"),
    _Line("", "propagation", "cpu_seconds", "s of a processor"),
    _Line("", "propagation", "peak_mb", "MB"),
    _Line("impact, from the file", "traversal", "file_p50_ms", "ms, half"),
    _Line("", "traversal", "file_p95_ms", "ms, 95 %"),
    _Line("", "traversal", "file_cpu_p50_ms", "ms of a processor, half"),
    _Line("", "traversal", "file_cpu_p95_ms", "ms of a processor, 95 %"),
    _Line("", "traversal", "file_peak_mb", "MB"),
    _Line("the graph into memory", "traversal", "load_seconds", "s"),
    _Line("", "traversal", "load_cpu_seconds", "s of a processor"),
    _Line("impact, in memory", "traversal", "memory_p50_ms", "ms, half"),
    _Line("", "traversal", "memory_p95_ms", "ms, 95 %"),
    _Line("", "traversal", "memory_cpu_p50_ms", "ms of a processor, half"),
    _Line("", "traversal", "memory_cpu_p95_ms", "ms of a processor, 95 %"),
    _Line("", "traversal", "memory_peak_mb", "MB"),
    _Line("service, on one processor", "service", "p50_ms", "ms, half"),
    _Line("", "service", "p95_ms", "ms, 95 %"),
    _Line("", "service", "rss_mb", "MB used"),
    _Line("", "service", "limit_mb", "MB, the smallest limit"),
)
_TIMES = (
    ("extraction", "extraction", "cpu_seconds", 1.0),
    ("ingest", "ingest", "cpu_seconds", 1.0),
    ("propagation", "propagation", "cpu_seconds", 1.0),
    ("impact, file", "traversal", "file_cpu_p50_ms", 1e-3),
    ("impact, memory", "traversal", "memory_cpu_p50_ms", 1e-3),
)
_MEMORY = (
    ("extraction", "extraction", "peak_mb", 1.0),
    ("ingest", "ingest", "peak_mb", 1.0),
    ("propagation", "propagation", "peak_mb", 1.0),
    ("impact, file", "traversal", "file_peak_mb", 1.0),
    ("service", "service", "rss_mb", 1.0),
)


def write_page(measured: Mapping[str, Figures]) -> str:
    """Write the picture, and the table into its place in the page; return the table."""
    rows = table(measured)
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(_BEGIN)
    _, _, tail = rest.partition(_END)
    PAGE.write_text(f"{head}{_BEGIN}\n\n{rows}\n\n{_END}{tail}", encoding="utf-8")
    PICTURE.write_text(picture(measured), encoding="utf-8")
    return rows


def table(measured: Mapping[str, Figures]) -> str:
    """Return the table in Markdown: a column for each scale, and the exponent at the end.

    A figure that was computed from a part is marked with ≈.
    """
    scales = list(measured.values())
    head = "".join(f" {one['columns']:,} columns, {one['edges']:,} edges |" for one in scales)
    lines = [f"| | unit |{head} exponent |", f"|---|---|{'--:|' * (len(scales) + 1)}"]
    for line in _LINES:
        values = [one.get(line.stage, {}).get(line.figure) for one in scales]
        shown = " | ".join(_shown(one, line, value) for one, value in zip(scales, values, strict=True))
        power = exponent([(one["columns"], value) for one, value in zip(scales, values, strict=True) if value])
        lines.append(f"| {line.name} | {line.unit} | {shown} | {'' if power is None else f'{power:.2f}'} |")
    return "\n".join(lines)


def exponent(points: Sequence[tuple[float, float]]) -> float | None:
    """Return the slope of a line through the logarithms: 1 is as fast as the estate, 0 is not at all.

    >>> exponent([(1, 3), (10, 30), (100, 300)]), exponent([(1, 5)])
    (1.0, None)
    """
    if len(points) < 2:
        return None
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)
    return round(slope, 6)


def picture(measured: Mapping[str, Figures]) -> str:
    """Return both plots as SVG, with logarithmic axes."""
    scales = list(measured.values())
    width, height = 2 * _WIDTH, _HEIGHT
    parts = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="11"><rect width="{width}" height="{height}" fill="#fff"/>',
        _plot("Seconds of a processor", _series(scales, _TIMES), scales, 0),
        _plot("Peak memory, MB", _series(scales, _MEMORY), scales, _WIDTH),
        "</svg>\n",
    )
    return "\n".join(parts)


_Series = list[tuple[str, list[tuple[float, float]]]]


def _series(scales: Sequence[Figures], wanted: Sequence[tuple[str, str, str, float]]) -> _Series:
    return [
        (name, [(one["columns"], one[stage][figure] * unit) for one in scales if one.get(stage, {}).get(figure)])
        for name, stage, figure, unit in wanted
    ]


def _plot(title: str, series: _Series, scales: Sequence[Figures], left: int) -> str:
    values = [value for _, points in series for _, value in points]
    if not values:
        return ""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)) + 1e-9)
    first, last = (math.log10(one["columns"]) for one in (scales[0], scales[-1]))
    across, down = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def x(columns: float) -> float:
        return round(left + _LEFT + (math.log10(columns) - first) / ((last - first) or 1) * across, 1)

    def y(value: float) -> float:
        return round(_TOP + (high - math.log10(value)) / ((high - low) or 1) * down, 1)

    parts = [f'<text x="{left + _LEFT}" y="18" font-size="13">{title}</text>']
    for power in range(low, high + 1):
        at = y(10.0**power)
        parts.append(f'<line x1="{x(10**first)}" y1="{at}" x2="{x(10**last)}" y2="{at}" stroke="#ddd"/>')
        parts.append(f'<text x="{left + _LEFT - 6}" y="{at + 4}" text-anchor="end">{10.0**power:,g}</text>')
    for one in scales:
        at = x(one["columns"])
        parts.append(f'<line x1="{at}" y1="{_TOP}" x2="{at}" y2="{_TOP + down}" stroke="#ddd"/>')
        parts.append(f'<text x="{at}" y="{_TOP + down + 16}" text-anchor="middle">{_short(one["columns"])}</text>')
    parts.append(f'<text x="{left + _LEFT + across / 2}" y="{_HEIGHT - 10}" text-anchor="middle">columns</text>')
    names = _apart([y(points[-1][1]) for _, points in series if points])
    for colour, (name, points), at in zip(_COLOURS, [one for one in series if one[1]], names, strict=False):
        places = " ".join(f"{x(columns)},{y(value)}" for columns, value in points)
        parts.append(f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x(c)}" cy="{y(v)}" r="3" fill="{colour}"/>' for c, v in points]
        slope = exponent(points)
        label = name if slope is None else f"{name} ({slope:.2f})"
        parts.append(f'<text x="{x(10**last) + 8}" y="{at + 4}" fill="{colour}">{label}</text>')
    return "\n".join(parts)


def _short(columns: int) -> str:
    return f"{columns / 1e6:g} M" if columns >= 1e6 else f"{columns / 1e3:g} k"


def _apart(places: Sequence[float], least: float = 13) -> list[float]:
    """Return places of names near those of their lines, so that no two overlap."""
    moved: dict[int, float] = {}
    before = -least
    for number, place in sorted(enumerate(places), key=lambda one: one[1]):
        before = moved[number] = max(place, before + least)
    return [moved[number] for number in range(len(places))]


def _shown(scale: Figures, line: _Line, value: float | None) -> str:
    if value is None:
        return "-"
    figures, runs = scale[line.stage], scale["scale"]
    sampled = figures.get("extracted", 0) < figures.get("statements", 0) or figures.get("runs", runs) < runs
    mark = "≈ " if sampled and line.figure in ("seconds", "cpu_seconds") else ""
    return f"{mark}{value:,.0f}" if value >= 20 else f"{mark}{value:,.3g}"
