"""The result of a function whose body is one expression or query, so that calls can be inlined."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token

from lineage.sql.procedural.dynamic import operands_of
from lineage.sql.procedural.parameters import COMMA
from lineage.sql.procedural.program_steps import FunctionBody
from lineage.sql.procedural.text.routines import Body, listed_tokens
from lineage.sql.procedural.text.statement_ends import statement_end
from lineage.sql.procedural.text.tokens import word_of

__all__ = ["function_body", "function_name", "function_search_path"]

_SQL = frozenset(("", "SQL", "PLPGSQL", "PLSQL"))
_QUERIES = (["("], ["SELECT"], ["WITH"], ["FROM"], ["VALUES"])
_LEADS = frozenset(("BEGIN", "RETURN", "QUERY", "ATOMIC"))


def function_body(
    header: Sequence[Token], body: Body, tokens: Sequence[Token], no_semicolons: bool
) -> FunctionBody | None:
    """Return the body of a function; None for other routines, and for functions that do more than return a value.

    `tokens` are the body and everything after it.
    """
    if body.kind not in ("FUNCTION", "MACRO") or body.language not in _SQL:
        return None
    span = _returned(body, [word_of(token) for token in tokens], no_semicolons)
    found = tuple(tokens[span.start : span.stop]) if span is not None else ()
    name = function_name(header)
    if not found or not name:
        return None
    at = _name_at(header)
    schema = header[at - 2].text.lower() if at > 1 and word_of(header[at - 1]) == "." else ""
    arguments = " ".join(token.text.lower() for token in _in_bracket(header, at + 1))
    own = [word_of(token) for token in header]
    several = any(own[i : i + 2] in (["RETURNS", "SETOF"], ["RETURNS", "TABLE"]) for i in range(len(own)))
    declared = operands_of(_in_bracket(header, at + 1), COMMA)
    results, others = _results(declared)
    given = tuple(name for name in body.parameters if name not in others)
    is_variadic = bool(declared) and "VARIADIC" in map(word_of, declared[-1][:2])
    columns, path = _columns(header) or results, function_search_path(header)
    return FunctionBody(name, given, found, columns, schema, arguments, path, several, is_variadic, _row_type(header))


def _row_type(header: Sequence[Token]) -> Token | None:
    """Return the last part of the name behind RETURNS or RETURNS SETOF."""
    words = [word_of(token) for token in header]
    at = words.index("RETURNS") + 1 if "RETURNS" in words else len(words)
    at += words[at : at + 1] == ["SETOF"]
    while words[at + 1 : at + 2] == ["."]:
        at += 2
    return header[at] if at < len(header) else None


def _returned(body: Body, words: Sequence[str], no_semicolons: bool) -> range | None:
    """Return where in a body the expression or query is that it returns; None if it does more than return it."""
    if words[:1] == ["DECLARE"]:
        return None
    start = 0
    while start < len(words) and words[start] in _LEADS:
        start += 1
    is_block = "BEGIN" in words[:start]
    if body.string is not None and not is_block:  # of several statements, the last one gives the result
        start = _last_statement(words, start)
    if is_block and words[start - 1] not in ("RETURN", "QUERY", "ATOMIC"):
        return None
    if words[start : start + 1] == ["TABLE"] and words[start + 1 : start + 2] in _QUERIES:
        start += 1
    end = statement_end(words, start) if no_semicolons and start < len(words) else start
    while end < len(words) and words[end] != ";" and not (is_block and words[end] == "END" and end == len(words) - 1):
        if no_semicolons:
            break
        end += 1
    if is_block and words[end : end + 1] == [";"] and words[end + 1 : end + 2] != ["END"]:
        return None
    return range(start, end)


def _last_statement(words: Sequence[str], start: int) -> int:
    """Return where the last of the statements from a position on begins."""
    ends = [at for at in range(start, len(words)) if words[at] == ";" and any(word != ";" for word in words[at:])]
    return ends[-1] + 1 if ends else start


def function_name(header: Sequence[Token]) -> str:
    """Return the name of the function that a header defines, without its schema, in lower case; empty if there is none.

    >>> from lineage.sql.parse.statements import parse_statements
    >>> from lineage.model.dialects import dialect_named
    >>> header = next(parse_statements("CREATE FUNCTION s.F() RETURNS int AS 'x'", dialect_named("postgres"))).tokens
    >>> function_name(header)
    'f'
    """
    at = _name_at(header)
    return header[at].text.lower() if at < len(header) else ""


def _name_at(header: Sequence[Token]) -> int:
    """Return the position of the last part of the name. Its case is ignored, as function look-up does in dialects."""
    words = [word_of(token) for token in header]
    at = next((i for i, word in enumerate(words) if word in ("FUNCTION", "MACRO")), len(words)) + 1
    while at < len(words) and words[at] in ("IF", "NOT", "EXISTS"):
        at += 1
    while at + 2 < len(words) and words[at + 1] == ".":
        at += 2
    return at


def _in_bracket(header: Sequence[Token], opened: int) -> Sequence[Token]:
    """Return what is in the brackets at a position."""
    depth = 0
    for at in range(opened, len(header)):
        word = word_of(header[at])
        depth += (word == "(") - (word == ")")
        if depth < 1:
            return header[opened + 1 : at]
    return header[opened + 1 :]


def _results(declared: Sequence[Sequence[Token]]) -> tuple[tuple[Token, ...], set[str]]:
    """Return the parameters that are columns of the result (OUT, INOUT), and the names of those that no call gives.

    `a int, OUT b text`, in PostgreSQL also `b OUT text`.
    """
    columns, not_given = [], set()
    for parameter in declared:
        modes = {word_of(token) for token in parameter[:2]}.intersection(("IN", "OUT", "INOUT"))
        names = [token for token in parameter[:2] if word_of(token) not in modes]
        if names and ("OUT" in modes or "INOUT" in modes):
            columns.append(names[0])
            if modes == {"OUT"}:
                not_given.add(names[0].text)
    return tuple(columns), not_given


def function_search_path(header: Sequence[Token]) -> tuple[str, ...]:
    """Return the schemas in `SET search_path TO a, b` of a function's header, as written in it."""
    words = [word_of(token) for token in header]
    for at in range(len(words) - 3):
        if words[at : at + 2] == ["SET", "SEARCH_PATH"] and words[at + 2] in ("TO", "="):
            end = at + 4
            while words[end : end + 1] == [","]:
                end += 2
            found = [token.text for token in header[at + 3 : end : 2]]
            return tuple(name for name in found if name and not name.startswith(("pg_", "$")))
    return ()


def _columns(header: Sequence[Token]) -> tuple[Token, ...]:
    """Return the columns of RETURNS TABLE (a int, b text)."""
    words = [word_of(token) for token in header]
    for at in range(len(words) - 2):
        if words[at : at + 2] in (["RETURNS", "TABLE"], ["RETURNS", "TABLE<"]) and words[at + 2] in ("(", "<"):
            return listed_tokens(header, words, at + 2)
    return ()
