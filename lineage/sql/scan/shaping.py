"""Masking that keeps literals that affect lineage: PIVOT lists, JSON paths, ordinals, names in strings."""

from __future__ import annotations

from collections.abc import Callable

from lineage.model.dialect import Dialect
from lineage.sql.scan import fingerprint, mask_for_parsing

__all__ = ["mask_irrelevant_literals"]

_MAX_LITERALS = 500
_QUOTES = "'\""


def mask_irrelevant_literals(sql: str, dialect: str | Dialect, is_same: Callable[[str], bool] | None = None) -> str:
    """Return a text in which every literal is masked that does not affect the fingerprint.

    A literal that is not closed is always masked, and so are all literals of a text with too many to try. `is_same`
    replaces the comparison of fingerprints in deciding which literals to keep.

    >>> mask_irrelevant_literals("SET search_path TO 'stage'", "postgres")
    "SET search_path TO 'stage'"
    >>> mask_irrelevant_literals("select j->>'id' as i from t where n = 'Ann' limit 7", "postgres")
    "select j->>'id' as i from t where n = '***' limit 0"

    Raises:
        UnknownDialectError: no dialect has that name.
    """
    wanted = fingerprint(sql, dialect)
    masked = mask_for_parsing(sql, dialect)
    if fingerprint(masked, dialect) == wanted:
        return masked
    runs = [run for run in _runs(sql, masked) if _is_closed(sql, run)]
    if len(runs) > _MAX_LITERALS:
        return masked
    shaping = _needed_runs(runs, lambda kept: fingerprint(_restore(masked, sql, kept), dialect) == wanted)
    if is_same is not None:
        shaping = _needed_runs(shaping, lambda kept: is_same(_restore(masked, sql, kept)))
    return _restore(masked, sql, shaping)


Run = tuple[int, int]


def _runs(sql: str, masked: str) -> list[Run]:
    """Return the ranges in which the texts differ, each a whole literal: masks have the literal's length."""
    runs: list[Run] = []
    at = 0
    while at < len(sql):
        if sql[at] == masked[at]:
            at += 1
            continue
        start = at
        quote = sql[start - 1] if start and sql[start - 1] in _QUOTES else None
        while at < len(sql) and (sql[at] != masked[at] or (quote is not None and sql[at] != quote)):
            at += 1
        runs.append((start, at))
    return runs


def _is_closed(sql: str, run: Run) -> bool:
    start, end = run
    if start and sql[start - 1] in _QUOTES:
        return end < len(sql) and sql[end] == sql[start - 1]
    return sql[start:end].replace(".", "").isalnum()


def _needed_runs(runs: list[Run], is_same: Callable[[list[Run]], bool]) -> list[Run]:
    """Return the runs that affect the fingerprint; all others may be masked."""
    kept = list(runs)
    if not runs or not is_same(kept):
        return []  # an unclosed literal affects it, too
    step = max(1, len(runs) // 2)
    while True:
        for start in range(0, len(runs), step):
            part = set(runs[start : start + step])
            fewer = [run for run in kept if run not in part]
            if len(fewer) < len(kept) and is_same(fewer):
                kept = fewer
        if step == 1:
            return kept
        step //= 2


def _restore(masked: str, sql: str, runs: list[Run]) -> str:
    for start, end in runs:
        masked = masked[:start] + sql[start:end] + masked[end:]
    return masked
