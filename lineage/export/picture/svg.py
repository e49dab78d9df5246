"""A picture of a part of the graph as SVG: a card for each table, a line for each edge between columns."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from lineage.export.graph_part import GraphPart
from lineage.export.picture.layers import place_boxes
from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import dataset_of
from lineage.model.text.visible_text import visible_line
from lineage.store.values import StoredDataset

__all__ = ["STYLE", "svg"]

_WIDTH, _PITCH, _HEAD, _ROW, _GAP, _MARGIN = 240, 360, 30, 18, 22, 16
_LEGEND = 34
_MOST_ROWS = 30
"""The rows of a card; the other columns share the last one."""
_MOST_CHARACTERS, _MOST_IN_HEAD = 34, 29

_WORDS = {
    "flow": "value", "reference": "influence: filters, joins …", "both": "value and influence",
    "feed": "its columns are not known",
}  # fmt: skip

STYLE = """
.lineage{--ground:#fff;--card:#f6f7f9;--text:#1b2430;--quiet:#5a6675;--border:#b9c2cd;--flow:#c8202f;
--reference:#1763d6;--both:#b35000;--focus:#ffe79a;--focus-text:#1b2430;font:12px system-ui,sans-serif}
@media(prefers-color-scheme:dark){.lineage{--ground:#12161c;--card:#222a35;--text:#e6ebf2;--quiet:#a2aebd;
--border:#4a5666;--flow:#ff7d85;--reference:#79b0ff;--both:#ffab5e;--focus:#6b5512;--focus-text:#fff}}
.lineage text{fill:var(--text)}.lineage .quiet{fill:var(--quiet)}.lineage .head{font-weight:600}
.lineage .ground{fill:var(--ground)}.lineage .card{fill:var(--card);stroke:var(--border)}
.lineage .partial{stroke-dasharray:5 3;stroke:var(--both);stroke-width:1.6}.lineage .focus{fill:var(--focus)}
.lineage .focus+text{fill:var(--focus-text)}.lineage path{fill:none;stroke-width:1.4;opacity:.85}
.lineage .flow{stroke:var(--flow)}.lineage .reference{stroke:var(--reference);stroke-dasharray:5 4;opacity:.55}
.lineage .both{stroke:var(--both)}.lineage .feed{stroke:var(--quiet);stroke-dasharray:1.5 4}
.lineage a text{text-decoration:underline}
"""


def svg(
    part: GraphPart,
    *,
    partial: Collection[str] = (),
    links: Mapping[str, str] | None = None,
    tables_only: bool = False,
) -> str:
    """Return the part as an SVG document without scripts, which follows the reader's dark mode.

    Args:
        part: the tables, columns and edges. Each table shows its columns that have edges.
        partial: tables whose lineage is not fully resolved: their border is dashed.
        links: addresses of tables' pages, by key.
        tables_only: without columns.
    """
    return "".join(_Drawing(part, partial, links or {}, tables_only).lines())


@dataclass(frozen=True, slots=True)
class _Card:
    """A card: what stands in its rows, the row of each column, and how many columns share the last one."""

    table: StoredDataset
    rows: list[tuple[str, str]]
    row_of: dict[str, int]
    others: int

    @property
    def height(self) -> int:
        rows = len(self.rows) + (self.others > 0)
        return _HEAD + rows * _ROW + (4 if rows else 0)


class _Drawing:
    def __init__(self, part: GraphPart, partial: Collection[str], links: Mapping[str, str], tables_only: bool) -> None:
        self.part = part
        self.partial = partial
        self.links = links
        self.edges = _edges(part, tables_only)
        self.cards = _cards(part, {end for pair in self.edges for end in pair})
        self.paths = {one.key: one.display_path for one in part.columns}
        heights = {key: card.height for key, card in self.cards.items()}
        pairs = [(dataset_of(source), dataset_of(target)) for source, target in self.edges]
        self.feeds = sorted({pair for pair in part.feeds if pair[0] != pair[1]} - set(pairs))
        self.places = place_boxes(heights, [*pairs, *self.feeds], _GAP)
        self.same_names = Counter(one.display_name for one in part.datasets)

    def lines(self) -> Iterator[str]:
        layers = 1 + max((layer for layer, _ in self.places.values()), default=0)
        width = 2 * _MARGIN + (layers - 1) * _PITCH + _WIDTH
        bottom = max((top + self.cards[key].height for key, (_, top) in self.places.items()), default=0)
        height = round(bottom) + 2 * _MARGIN + _LEGEND
        tables, edges = len(self.cards), len(self.edges)
        said = f"{tables:,} table{'s' * (tables != 1)}, {edges:,} edge{'s' * (edges != 1)}"
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="lineage" role="img" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}">\n<title>Lineage: {said}</title>\n<style>{STYLE}</style>\n'
            f'<rect class="ground" width="{width}" height="{height}"/>\n'
        )
        for (source, target), (kinds, masked) in self.edges.items():
            name = "both" if len(kinds) > 1 else "flow" if EdgeKind.CONTRIBUTES in kinds else "reference"
            yield self._line(source, target, name, masked=masked)
        for source, target in self.feeds:
            yield self._line(source, target, "feed")
        for key in self.cards:
            yield from self._card(key)
        yield from self._legend(height - _LEGEND / 2)
        yield "</svg>\n"

    def _line(self, source: str, target: str, name: str, *, masked: bool = False) -> str:
        (x, y), (end_x, end_y) = self._end(source, right=True), self._end(target, right=False)
        bend = max(60.0, abs(end_x - x) / 2)
        said = f"{self._name(source)} → {self._name(target)}: {_WORDS[name]}{', masked' if masked else ''}"
        return (
            f'<path class="{name}" d="M{x:.0f} {y:.0f}C{x + bend:.0f} {y:.0f} {end_x - bend:.0f} {end_y:.0f} '
            f'{end_x:.0f} {end_y:.0f}"><title>{_text(said)}</title></path>\n'
        )

    def _end(self, key: str, *, right: bool) -> tuple[float, float]:
        """Return where a line ends at a column's row, or at the head of a table's card."""
        table = dataset_of(key)
        layer, top = self.places[table]
        row = self.cards[table].row_of.get(key)
        down = _HEAD / 2 if row is None else _HEAD + (row + 0.5) * _ROW
        return _MARGIN + layer * _PITCH + right * _WIDTH, _MARGIN + top + down

    def _card(self, key: str) -> Iterator[str]:
        card, (layer, top) = self.cards[key], self.places[key]
        table = card.table
        state = ", not fully resolved" if key in self.partial else ""
        title = f"{table.display_name} ({table.kind}, {table.namespace}{state})"
        # An SVG inside clips what is too wide for it: how wide a text is depends on the reader's fonts.
        yield (
            f'<svg x="{_MARGIN + layer * _PITCH}" y="{_MARGIN + top:.0f}" width="{_WIDTH}" height="{card.height}">'
            f"<title>{_text(title)}</title>"
            f'<rect class="card{" partial" if state else ""}" x="1" y="1" width="{_WIDTH - 2}" '
            f'height="{card.height - 2}" rx="5"/>'
        )
        if key in self.part.focus:
            yield f'<rect class="focus" x="2" y="2" width="{_WIDTH - 4}" height="{_HEAD - 4}" rx="4"/>'
        head = f'<text class="head" x="9" y="20">{_text(_cut(self._head(table), _MOST_IN_HEAD))}</text>'
        yield f"<a href={quoteattr(self.links[key])}>{head}</a>" if key in self.links else head
        for number, (column, path) in enumerate(card.rows):
            y = _HEAD + number * _ROW
            if column in self.part.focus:
                yield f'<rect class="focus" x="2" y="{y}" width="{_WIDTH - 4}" height="{_ROW}"/>'
            yield f'<text x="9" y="{y + 13}">{_text(_cut(path, _MOST_CHARACTERS))}</text>'
        if card.others:
            y = _HEAD + len(card.rows) * _ROW + 13
            yield f'<text class="quiet" x="9" y="{y}">+ {card.others:,} more columns</text>'
        yield "</svg>\n"

    def _legend(self, y: float) -> Iterator[str]:
        combinations = [kinds for kinds, _ in self.edges.values()]
        shown = {
            "flow": {EdgeKind.CONTRIBUTES} in combinations, "reference": {EdgeKind.REFERENCES} in combinations,
            "both": any(len(kinds) > 1 for kinds in combinations), "feed": bool(self.feeds),
        }  # fmt: skip
        x = _MARGIN
        for name, words in ((name, words) for name, words in _WORDS.items() if shown[name]):
            yield f'<path class="{name}" d="M{x} {y}h28"/><text class="quiet" x="{x + 34}" y="{y + 4}">{words}</text>'
            x += 50 + 7 * len(words)
        if any(key in self.partial for key in self.cards):
            yield f'<rect class="card partial" x="{x}" y="{y - 7}" width="26" height="14" rx="3"/>'
            yield f'<text class="quiet" x="{x + 32}" y="{y + 4}">not fully resolved</text>'

    def _head(self, table: StoredDataset) -> str:
        name = table.display_name
        return name if self.same_names[name] == 1 else f"{name} · {table.namespace}"

    def _name(self, key: str) -> str:
        table = self.cards[dataset_of(key)].table.display_name
        return f"{table}.{self.paths[key]}" if key in self.paths else table


def _edges(part: GraphPart, tables_only: bool) -> dict[tuple[str, str], tuple[set[EdgeKind], bool]]:
    """Return the kinds of the edges between each two ends, and whether all of them mask."""
    kinds: dict[tuple[str, str], set[EdgeKind]] = defaultdict(set)
    masked: dict[tuple[str, str], bool] = {}
    for edge in part.edges:
        pair = (edge.source, edge.target)
        if tables_only:
            pair = (dataset_of(edge.source), dataset_of(edge.target))
            if pair[0] == pair[1]:
                continue
        kinds[pair].add(edge.kind)
        masked[pair] = masked.get(pair, True) and edge.masking
    return {pair: (kinds[pair], masked[pair]) for pair in sorted(kinds)}


def _cards(part: GraphPart, ends: Collection[str]) -> dict[str, _Card]:
    shown: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for column in part.columns:
        if column.key in ends or column.key in part.focus:
            shown[column.dataset].append((column.key, column.display_path))
    cards = {}
    for table in sorted(part.datasets, key=lambda one: one.key):
        columns = shown[table.key]
        fits = len(columns) if len(columns) <= _MOST_ROWS else _MOST_ROWS - 1
        row_of = {key: min(number, fits) for number, (key, _) in enumerate(columns)}
        cards[table.key] = _Card(table, columns[:fits], row_of, len(columns) - fits)
    return cards


def _cut(text: str, most: int) -> str:
    """Return a text without its middle, if it is longer than a card is wide."""
    shown = visible_line(text)
    if len(shown) <= most:
        return shown
    half = (most - 1) // 2
    return f"{shown[:half]}…{shown[-half:]}"


def _text(text: str) -> str:
    return escape(visible_line(text))
