"""Constant paths into JSON documents: their keys."""

from __future__ import annotations

import re

from sqlglot import exp

__all__ = ["json_keys"]

_JSON_PATH_MODE = re.compile(r"^\s*(?:lax|strict)\s+(?=\$)", re.IGNORECASE)
"""The mode at the beginning of an SQL/JSON path (SQL:2016, 9.39)."""
_QUOTED_KEYS = re.compile(r"\s*\$(?:\.\s*(?:\"[^\"\\]+\"|[^\W\d]\w*)|\[[^\]\"']*\])*\s*")
"""A path of which some keys are in quotes, as PostgreSQL shows all: `$."a"[*]."b c"`."""
_PATH_KEY = re.compile(r"\.\s*(?:\"([^\"]+)\"|([^\W\d]\w*))")


_ENDS = re.compile(r"\.\.|\.?\*\*|\.\s*\*|\?|\.\s*\w+\s*\(")
"""Where the keys of a path end: a descent, any key, a test, a method."""


def json_keys(path: exp.Expr | None) -> list[str] | None:
    """Return the first keys of a constant JSON path, up to what may read several, without subscripts; else None.

    >>> import sqlglot
    >>> json_keys(sqlglot.parse_one("SELECT v:a.b[0].c", dialect="snowflake").find(exp.JSONPath))
    ['a', 'b', 'c']
    >>> json_keys(exp.Literal.string("lax $.a.*.b")), json_keys(exp.column("a"))
    (['a'], None)
    """
    if isinstance(path, exp.JSONPath):
        return _keys_of_tree(path)
    if isinstance(path, exp.Literal) and path.is_string:
        written = _JSON_PATH_MODE.sub("", str(path.this))
        if _QUOTED_KEYS.fullmatch(written):
            return [quoted or plain for quoted, plain in _PATH_KEY.findall(written)]
        if written.lstrip().startswith("$"):
            written = _ENDS.split(written, maxsplit=1)[0]
        parts = [part.partition("[")[0] for part in written.removeprefix("$").strip("{}").replace(",", ".").split(".")]
        return [part for part in parts if part]
    return None


def _keys_of_tree(path: exp.JSONPath) -> list[str]:
    found: list[str] = []
    for part in path.expressions:
        if isinstance(part, exp.JSONPathKey) and isinstance(part.this, str):
            found.append(part.this)
        elif isinstance(part, exp.JSONPathSubscript):
            if isinstance(part.this, exp.JSONPathFilter | exp.JSONPathScript):
                break
        elif not isinstance(part, exp.JSONPathRoot):
            break
    return found
