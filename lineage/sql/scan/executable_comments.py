r"""Comments that MySQL and MariaDB run: `/*! … */`, `/*!50001 … */` and `/*M! … */`. mysqldump writes views in them.

https://dev.mysql.com/doc/refman/8.4/en/comments.html, https://mariadb.com/kb/en/comment-syntax/
"""

from __future__ import annotations

import re

from lineage.model.dialect import Dialect
from lineage.model.dialects import dialect_named

__all__ = ["open_executable_comments"]

_PIECE = re.compile(
    r"""'(?:[^'\\]|\\.|'')*+'|"(?:[^"\\]|\\.|"")*+"|`[^`]*+`|--(?=\s|$)[^\n]*+|\#[^\n]*+"""
    r"""|(?P<runs>/\*M?!(?P<version>\d{5,6})?)|(?P<comment>/\*)|(?P<end>\*/)""",
    re.DOTALL,
)
_NEVER = 200_000
"""Versions from here on do not exist: dumps of MariaDB hide a line from every server by 999999."""


def open_executable_comments(sql: str, dialect: str | Dialect = "mysql") -> str:
    """Return the text with the marks of executable comments replaced by spaces: what is in them is SQL.

    Positions do not change. Ordinary comments, strings and optimizer hints stay.

    >>> open_executable_comments("SELECT 1 /*!80000 , a */ FROM t /* '/*! no' */")
    "SELECT 1          , a    FROM t /* '/*! no' */"

    Raises:
        UnknownDialectError: no dialect has that name.
    """
    if ("/*!" not in sql and "/*M!" not in sql) or not dialect_named(dialect).runs_comments:
        return sql
    written: list[str] = []
    done, at, opened = 0, 0, 0
    while (match := _PIECE.search(sql, at)) is not None:
        at = match.end()
        is_hidden = match["version"] is not None and int(match["version"]) >= _NEVER
        if match["comment"] is not None or is_hidden:
            end = sql.find("*/", at)
            at = len(sql) if end < 0 else end + 2
        elif match["runs"] is not None or (match["end"] is not None and opened):
            opened += 1 if match["runs"] is not None else -1
            written += (sql[done : match.start()], " " * len(match.group()))
            done = at
    return "".join((*written, sql[done:]))
