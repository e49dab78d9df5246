"""SQLite's full-text tables whose text is another table's: FTS5 and FTS4 with `content='table'`.

https://sqlite.org/fts5.html#external_content_tables
https://sqlite.org/fts3.html#external_content_fts4_tables_
"""

from __future__ import annotations

import re

from lineage_ingest.live_database.objects import LiveRelation, quoted

__all__ = ["content_statement"]

_FULLTEXT = re.compile(r"\bUSING\s+fts[45]\s*\((?P<arguments>.*)\)\s*$", re.IGNORECASE | re.DOTALL)
_CONTENT = re.compile(
    r"(?:^|,)\s*content\s*=\s*(?:'(?P<a>(?:[^']|'')*)'|\"(?P<b>(?:[^\"]|\"\")*)\"|(?P<c>[^\s,'\"]+))", re.IGNORECASE
)


def content_statement(relation: LiveRelation, sql: str) -> str | None:
    """Return the INSERT that says whose rows a full-text table shows; None if it has its own text, or none.

    >>> from lineage_ingest.live_database.objects import LiveColumn, RelationKind
    >>> table = LiveRelation(1, "", "f", RelationKind.TABLE, "", columns=(LiveColumn(0, "title", ""),))
    >>> content_statement(table, "CREATE VIRTUAL TABLE f USING fts5(title, content='docs', content_rowid='id')")
    'INSERT INTO "f" ("title") SELECT "title" FROM "docs"'
    """
    found = _FULLTEXT.search(sql.strip().removesuffix(";"))
    content = _CONTENT.search(found["arguments"]) if found is not None else None
    if content is None or not relation.columns:
        return None
    table = next((text for text in content.group("a", "b", "c") if text is not None), "")
    table = table.replace("''", "'") if content["a"] is not None else table.replace('""', '"')
    if not table:
        return None
    listed = ", ".join(quoted(column.name) for column in relation.columns)
    return f"INSERT INTO {quoted(relation.name)} ({listed}) SELECT {listed} FROM {quoted(table)}"  # noqa: S608  it is read, never run
