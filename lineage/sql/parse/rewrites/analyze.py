"""EXPLAIN ANALYZE of a statement that writes: it executes the statement.

https://www.postgresql.org/docs/current/sql-explain.html, https://trino.io/docs/current/sql/explain-analyze.html,
https://mariadb.com/kb/en/analyze-statement/
"""

from __future__ import annotations

from collections.abc import Iterator

from lineage.sql.parse.rewrites.statement import Statement, Tokens, rewrite

_WRITES = frozenset(("INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "REPLACE"))
_OFF = frozenset(("FALSE", "OFF", "0"))


@rewrite("EXPLAIN", "ANALYZE")
def explain_analyze(s: Statement) -> Iterator[Tokens]:
    """The statement after `EXPLAIN ANALYZE`, `EXPLAIN (ANALYZE, …)` or MariaDB's `ANALYZE`."""
    if _WRITES.isdisjoint(s.words):
        return
    at = next(at for at, word in enumerate(s.words) if word in _WRITES or word == "WITH")
    if s.dialect.explain_never_runs or not _runs(s.words[:at]):
        return
    yield s.tokens[at:]


def _runs(words: list[str]) -> bool:
    """Return whether the words before a statement make it execute."""
    if "ANALYZE" not in words or {"SELECT", "TABLE"} & set(words):
        return False
    behind = words[words.index("ANALYZE") + 1 :]
    return not behind or behind[0] not in _OFF
