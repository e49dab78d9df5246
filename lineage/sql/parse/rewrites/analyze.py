"""EXPLAIN ANALYZE of a statement that writes: it runs, and writes.

https://www.postgresql.org/docs/current/sql-explain.html, https://trino.io/docs/current/sql/explain-analyze.html,
https://mariadb.com/kb/en/analyze-statement/
"""

from __future__ import annotations

from collections.abc import Iterator

from lineage.sql.parse.rewrites.statement import Statement, Tokens, rewrite

_WRITES = frozenset(("INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "REPLACE"))
_OFF = frozenset(("FALSE", "OFF", "0"))


@rewrite("EXPLAIN", "ANALYZE")
def analyzed(s: Statement) -> Iterator[Tokens]:
    """The statement behind `EXPLAIN ANALYZE`, `EXPLAIN (ANALYZE, …)` and MariaDB's `ANALYZE`."""
    if _WRITES.isdisjoint(s.words):
        return
    at = next(at for at, word in enumerate(s.words) if word in _WRITES or word == "WITH")
    if s.dialect.explain_never_runs or not _runs(s.words[:at]):
        return
    yield s.tokens[at:]


def _runs(words: list[str]) -> bool:
    """Return whether what stands before a statement has it run."""
    if "ANALYZE" not in words or {"SELECT", "TABLE"} & set(words):
        return False
    behind = words[words.index("ANALYZE") + 1 :]
    return not behind or behind[0] not in _OFF
