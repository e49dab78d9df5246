"""UNLOAD, LOAD DATA, BULK INSERT and INTO OUTFILE: tables loaded from files and written to files."""

from __future__ import annotations

from collections.abc import Iterator

from lineage.sql.parse.rewrites.statement import Statement, Tokens, rewrite
from lineage.sql.procedural.text.tokens import STRINGS


@rewrite("UNLOAD")
def unload(s: Statement) -> Iterator[Tokens]:
    """`UNLOAD ('query') TO 's3://…'` (Redshift), `UNLOAD (query) TO …` (Athena)."""
    to = s.find("TO")
    if to is None or not s.matches("(", at=1):
        return
    inner = s.tokens[2 : to - 1]
    query = s.inside(inner[0]) if len(inner) == 1 and inner[0].token_type in STRINGS else inner
    yield s.build("COPY (", query, ") TO", s.tokens[to + 1 : to + 2])


@rewrite("LOAD")
def load_with_options(s: Statement) -> Iterator[Tokens]:
    """BigQuery's `LOAD DATA OVERWRITE TEMP TABLE t … OPTIONS (…) FROM FILES (…)`: OPTIONS and the like say nothing."""
    files, into = s.find("FROM", "FILES"), s.find("INTO") or s.find("OVERWRITE")
    if files is not None and into is not None:
        is_temporary = s.matches("TEMP", "TABLE", at=into + 1) or s.matches("TEMPORARY", "TABLE", at=into + 1)
        name = into + 1 + is_temporary + (is_temporary or s.matches("TABLE", at=into + 1))
        end = s.name(name)
        columns = s.tokens[end : s.closing(end)] if s.matches("(", at=end) else []
        head = "LOAD DATA INTO TEMP TABLE" if is_temporary else "LOAD DATA INTO"
        yield s.build(head, s.tokens[name:end], columns, s.tokens[files : s.closing(files + 2)])


@rewrite("LOAD", "BULK")
def load(s: Statement) -> Iterator[Tokens]:
    """`LOAD DATA INFILE 'f' INTO TABLE t (a, @b) SET c = …` (MySQL), `BULK INSERT t FROM 'f'` (T-SQL)."""
    if s.matches("BULK", "INSERT"):
        end = s.name(2)
        if s.matches("FROM", at=end):
            yield s.build("COPY", s.tokens[2:end], "FROM", s.tokens[end + 1 : end + 2])
        return
    file, into = s.find("INFILE"), s.find("INTO", "TABLE")
    if file is None or into is None:
        return
    named = s.tokens[into + 2 : s.name(into + 2)]
    end = s.name(into + 2)
    if s.matches("PARTITION", "(", at=end):
        end = s.closing(end + 1)
    opened = next((at for at in range(end, len(s.words)) if s.words[at] == "("), None)
    columns: Tokens = []
    if opened is not None:
        listed = s.tokens[opened + 1 : s.closing(opened) - 1]
        variables = {at + 1 for at, token in enumerate(listed) if token.text == "@"}
        names = [t for at, t in enumerate(listed) if t.text not in (",", "@") and at not in variables]
        assigned = range(s.find("SET", after=opened) or len(s.words), len(s.words) - 1)
        names += [s.tokens[at - 1] for at in assigned if s.words[at] == "=" and s.words[at - 2] in ("SET", ",")]
        columns = [part for name in names for part in (*s.build(","), name)][1:]
    listing = [*s.build("("), *columns, *s.build(")")] if columns else []
    if "SELECT" not in s.words[end:]:  # what a sub-query in SET reads has no place in COPY
        yield s.build("COPY", named, listing, "FROM", s.tokens[file + 1 : file + 2])


@rewrite("INSERT")
def insert_from_a_file(s: Statement) -> Iterator[Tokens]:
    """ClickHouse's `INSERT INTO t (a, b) FROM INFILE 'f' COMPRESSION 'gzip' FORMAT CSV`."""
    file = s.find("FROM", "INFILE")
    if file is not None and file + 2 < len(s.tokens):
        into = 1 + s.matches("INTO", at=1)
        into += s.matches("TABLE", at=into)
        name = s.name(into)
        end = s.closing(name) if s.matches("(", at=name) else name
        yield s.build("COPY", s.tokens[into:end], "FROM", s.tokens[file + 2 : file + 3])


@rewrite("SELECT", "WITH")
def into_outfile(s: Statement) -> Iterator[Tokens]:
    """`SELECT … INTO OUTFILE 'f' … FROM t` (MySQL), `SELECT … INTO OUTFILE 'f'` (ClickHouse)."""
    at = s.find("INTO", "OUTFILE")
    if at is None:
        return
    following = s.find("FROM", after=at)
    rest = s.tokens[following:] if following is not None else []
    yield s.build("COPY (", s.tokens[:at], rest, ") TO", s.tokens[at + 2 : at + 3])
