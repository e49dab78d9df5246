"""Lay out rows and columns within a given width. Names are not broken, and empty columns are left out.

If the columns do not fit side by side, the first ones form a table and the others go below each row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from lineage.frozen import frozen
from lineage.model.text.visible_text import visible_line

__all__ = ["Look", "cell_text", "cut_middle", "lay_out", "wrap", "wrap_styled"]

_GAP = "  "
_BELOW = " " * 6
_WORDS_NEED = 30
_NAMES_NEED = 30
_WORD = re.compile(r"(?:`[^`]*`|[^\s`]|`(?![^`]*`))+")
_NUMBER = re.compile(r"[\d,]+(?:\.\d+)?%?")
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


@frozen
class Look:
    """How people see the columns of a listing.

    `names` are columns of dotted names: their common prefix is printed once, above the table. `words` are columns of
    text, which may wrap. `cuts` are the columns after which the table may end if not all columns fit. The rest goes
    below each row, formatted by `phrases` (`"{} statements"`), else after the column's name. `styles` are rich styles
    by column. What is in the columns `shortened` loses its middle where the table does not fit.
    """

    names: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    cuts: tuple[str, ...] = ()
    shortened: tuple[str, ...] = ()
    phrases: Mapping[str, str] = field(default_factory=dict)
    styles: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Column:
    """A column that has values. Each cell is a list of pieces, which are not broken."""

    name: str
    cells: list[list[str]]
    numeric: bool
    words: bool
    style: str

    @property
    def natural(self) -> int:
        return max(cell_len(text) for text in (self.name, *map(" ".join, self.cells)))

    @property
    def least(self) -> int:
        longest = max((cell_len(piece) for cell in self.cells for piece in cell), default=0)
        return max(cell_len(self.name), longest, min(self.natural, _WORDS_NEED) if self.words else 0)


def lay_out(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], look: Look, width: int, *, full_names: bool = False
) -> Iterator[Text]:
    """Yield the lines of a listing; with `full_names`, each name keeps what all of them begin with."""
    shown = _columns(columns, rows, look)
    if not full_names and (beginnings := _take_beginnings(shown, look)):
        for line in wrap(beginnings, width):
            yield Text(line, style="dim")
    beside, widths = _fit(shown, look, width)
    if not full_names:
        _shorten(shown[:beside], widths, look, width)
    if sum(widths) + len(_GAP) * (beside - 1) > width:
        # Not even these fit: the first name gets a line to itself.
        shown.sort(key=lambda column: column.name not in look.names)
        beside, widths = 1, [shown[0].natural]
    yield from _table(shown[:beside], widths, shown[beside:], look, width)


def cell_text(value: Any) -> str:
    """Return a value as the text of a cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(str(item) for item in value)
    return str(value)


def wrap(text: str, width: int | None) -> list[str]:
    """Wrap a text at `width` characters; words and text in backticks are not broken.

    >>> wrap("no column `my amount` in shop.orders", 20)
    ['no column', '`my amount` in', 'shop.orders']
    """
    if width is None or cell_len(text) <= width:
        return [text]
    indent = text[: len(text) - len(text.lstrip())]
    return _pack(_WORD.findall(text), width, indent)


def wrap_styled(text: Text, width: int) -> list[Text]:
    """Wrap a styled text at `width` characters; words are not broken."""
    plain, begin, cuts = text.plain, 0, []
    for word in re.finditer(r"\S+", plain):
        if word.start() > begin and cell_len(plain[begin : word.end()]) > width:
            begin = word.start()
            cuts.append(begin)
    lines = list(text.divide(cuts))
    for line in lines:
        line.rstrip()
    return lines


def _pack(pieces: list[str], width: int, indent: str = "") -> list[str]:
    """Fill lines that begin with `indent` with pieces."""
    lines: list[str] = []
    for piece in pieces:
        if lines and cell_len(lines[-1]) + 1 + cell_len(piece) <= width:
            lines[-1] += f" {piece}"
        else:
            lines.append(f"{indent}{piece}")
    return lines or [""]


def _columns(columns: Sequence[str], rows: Sequence[Sequence[Any]], look: Look) -> list[_Column]:
    shown = []
    for position, name in enumerate(columns):
        cells = [_pieces(row[position], name in look.words) for row in rows]
        if rows and not any(cells):
            continue
        numeric = bool(rows) and all(len(cell) < 2 and _NUMBER.fullmatch("".join(cell) or "0") for cell in cells)
        shown.append(_Column(name, cells, numeric, name in look.words, look.styles.get(name, "")))
    return shown


def _pieces(value: Any, words: bool) -> list[str]:
    """Return the unbreakable pieces of a cell: its words, the items of a list with their commas, or all of it."""
    if isinstance(value, list | tuple | set | frozenset):
        items = [visible_line(str(item)) for item in value]
        return [f"{item}," for item in items[:-1]] + items[-1:]
    text = visible_line(cell_text(value))
    if words:
        return _WORD.findall(text)
    return [text] if text else []


def _take_beginnings(columns: list[_Column], look: Look) -> str | None:
    """Remove the common prefix from the names of each column; return the line that reports it."""
    named = {column.name: _names(column) for column in columns if column.name in look.names}
    every = sorted(set().union(*named.values()))
    said: dict[str, list[str]] = {}
    for column in columns:
        names = named.get(column.name, [])
        beginning = _common_beginning(names if len(names) > 1 else every) if names else ""
        if beginning:
            column.cells = [[piece.removeprefix(beginning) for piece in cell] for cell in column.cells]
            said.setdefault(beginning, []).append(column.name)
    parts = [(" and ".join(f"`{name}`" for name in names), beginning) for beginning, names in said.items()]
    texts = [f"under {names}{'' if at else ' begin'} with `{beginning}`" for at, (names, beginning) in enumerate(parts)]
    return f"names {', '.join(texts)}" if texts else None


def _names(column: _Column) -> list[str]:
    """Return the distinct names of a column, sorted."""
    return sorted({piece.removesuffix(",") for cell in column.cells for piece in cell})


def _common_beginning(names: list[str]) -> str:
    """Return the common prefix of sorted names, in whole parts; at least the last part of each name remains.

    >>> _common_beginning(["a.b.c", "a.b.cd"]), _common_beginning(["a.b", "a.b.c"]), _common_beginning(["a.b", "c.d"])
    ('a.b.', 'a.', '')
    """
    first, last = names[0], names[-1]
    if first == last:
        return ""
    # Paths are cut at folders: a file name may contain dots.
    separator = "/" if any("/" in _QUOTED.sub("", name) for name in names) else "."
    same = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    bare = _QUOTED.sub(lambda quoted: "x" * len(quoted.group()), first)
    return first[: bare.rfind(separator, 0, same) + 1]


def _fit(columns: list[_Column], look: Look, width: int) -> tuple[int, list[int]]:
    """Return how many columns fit side by side, and their widths."""
    natural = [column.natural for column in columns]
    names = [column.name for column in columns]
    cuts = [names.index(cut) + 1 for cut in look.cuts if cut in names]
    tried = [len(columns), *sorted({cut for cut in cuts if cut < len(columns)}, reverse=True)]
    for count in tried:
        spare = width - len(_GAP) * (count - 1)
        if sum(natural[:count]) <= spare:
            return count, natural[:count]
        least = [column.least for column in columns[:count]]
        if sum(least) <= spare:
            return count, _share(least, natural[:count], spare - sum(least))
    return tried[-1], natural[: tried[-1]]


def _share(least: list[int], natural: list[int], spare: int) -> list[int]:
    """Return widths between the least and the natural ones; the spare room is shared evenly."""
    widths = list(least)
    while spare and (narrow := [at for at, width in enumerate(widths) if width < natural[at]]):
        for at in narrow[:spare]:
            widths[at] += 1
        spare -= len(narrow[:spare])
    return widths


def _shorten(columns: list[_Column], widths: list[int], look: Look, width: int) -> None:
    """Cut the middle of what is in a column, so that the columns fit, if enough of it remains."""
    over = sum(widths) + len(_GAP) * (len(widths) - 1) - width
    for position, column in enumerate(columns):
        if over > 0 and column.name in look.shortened and widths[position] - over >= _NAMES_NEED:
            widths[position] -= over
            column.cells = [[cut_middle(piece, widths[position]) for piece in cell] for cell in column.cells]
            return


def cut_middle(text: str, width: int) -> str:
    """Return a text without its middle, if it is wider.

    >>> cut_middle("prod.shop.orders", 10), cut_middle("shop", 10)
    ('prod…rders', 'shop')
    """
    tail = width // 2
    return text if cell_len(text) <= width else f"{text[: width - tail - 1]}…{text[len(text) - tail :]}"


def _table(columns: list[_Column], widths: list[int], below: list[_Column], look: Look, width: int) -> Iterator[Text]:
    yield _line([column.name for column in columns], columns, widths, header=True)
    yield Text("─" * min(sum(widths) + len(_GAP) * (len(widths) - 1), width), style="dim")
    for row in range(max((len(column.cells) for column in columns), default=0)):
        cells = [_pack(column.cells[row], at_most) for column, at_most in zip(columns, widths, strict=True)]
        for line in range(max(map(len, cells))):
            yield _line([cell[line] if line < len(cell) else "" for cell in cells], columns, widths)
        for text in _below(below, row, look, width):
            yield Text(text, style="dim")


def _line(texts: list[str], columns: list[_Column], widths: list[int], *, header: bool = False) -> Text:
    line = Text()
    for position, (text, column, width) in enumerate(zip(texts, columns, widths, strict=True)):
        space = " " * (width - cell_len(text))
        line.append(_GAP if position else "")
        line.append(f"{space}{text}" if column.numeric else f"{text}{space}", style="bold" if header else column.style)
    line.rstrip()
    return line


def _phrase(column: _Column, row: int, look: Look) -> list[str]:
    """Return the text of a column below a row, in unbreakable pieces."""
    pieces = column.cells[row]
    if not pieces or pieces == ["yes"]:
        return pieces and [column.name]
    before, _, after = look.phrases.get(column.name, f"{column.name} {{}}").partition("{}")
    if len(pieces) == 1 and not column.words:
        return [f"{before}{pieces[0]}{after}"]
    return [*before.split(), *pieces, *after.split()]


def _below(columns: list[_Column], row: int, look: Look, width: int) -> Iterator[str]:
    """Yield the lines below a row: each name on its own line, then the rest."""
    rest: list[str] = []
    for column in columns:
        pieces = _phrase(column, row, look)
        if pieces and column.name in look.names:
            yield from _pack(pieces, width, _BELOW)
        elif pieces:
            rest += [*([f"{rest.pop()} ·"] if rest else []), *pieces]
    if rest:
        yield from _pack(rest, width, _BELOW)
