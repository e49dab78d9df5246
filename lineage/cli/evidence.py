"""The SQL that proves an edge, as one line with the place marked."""

from __future__ import annotations

from rich.text import Text

__all__ = ["excerpt"]


def excerpt(sql: str, span: tuple[int, int], *, around: int = 48) -> tuple[str, Text]:
    """Return the place (`line:column`) of a span and the text around it, on one line, the span itself underlined.

    >>> place, text = excerpt("SELECT a,\\n  b + 1 AS c\\nFROM t", (12, 13))
    >>> place, text.plain
    ('2:3', 'SELECT a, b + 1 AS c FROM t')
    """
    start, end = span
    line_start = sql.rfind("\n", 0, start) + 1
    place = f"{sql.count(chr(10), 0, start) + 1}:{start - line_start + 1}"
    left, right = max(0, start - around), min(len(sql), end + around)
    before, found, after = (" ".join(part.split()) for part in (sql[left:start], sql[start:end], sql[end:right]))
    text = Text("… " if left else "", style="dim")
    text.append(before + (" " if before and sql[start - 1].isspace() else ""), style="dim")
    text.append(found, style="bold underline")
    text.append((" " if after and sql[end].isspace() else "") + after + (" …" if right < len(sql) else ""), style="dim")
    return place, text
