"""Assignments to variables: `:=`, SET, LET, SELECT … INTO, `SELECT @a = …`, FETCH, OPEN … FOR."""

from __future__ import annotations

from sqlglot.tokenizer_core import Token, TokenType

from lineage.sql.procedural.program_steps import ProgramStep
from lineage.sql.procedural.text.tokens import make_token, word_of
from lineage.sql.procedural.walk import Walk, head

__all__ = ["QUERIES", "assignment", "assignments_in_select", "assignments_within", "without_into"]

QUERIES = frozenset(("SELECT", "WITH", "(", "VALUES", "FROM", "TABLE"))
"""The first words of a query."""
_OPERATORS = frozenset(("+", "-", "*", "/", "%", "&", "|", "^"))
_SCHEMA_SETTINGS = frozenset(("SCHEMA", "SEARCH_PATH", "CURRENT_SCHEMA"))
"""Session settings that qualify names: `SET schema = 's'` is not an assignment to a variable."""
_SET_OPTIONS = frozenset(("SESSION", "GLOBAL", "LOCAL", "PERSIST", "TIME", "ROLE", "NAMES", "CHARACTER", "CATALOG"))


def assignment(walk: Walk, position: int) -> int | None:
    """`v := value`; in PL/pgSQL also `v = value`."""
    name, after = walk.names.read(walk.tokens, walk.words, position)
    if name is None or after >= len(walk.tokens):
        return None
    if walk.word(after) in ("[", "("):  # an element
        after = (walk.find(after, ("]",)) if walk.word(after) == "[" else walk.close(after)) + 1
        while walk.word(after) == ".":
            after += 2
    if after >= len(walk.tokens):
        return None
    sign = walk.tokens[after]
    if sign.token_type is not TokenType.COLON_EQ and not (sign.text == "=" and walk.inside()):
        if not (sign.text == ":" and walk.word(after + 1) == "="):
            return None
        after += 1
    end = walk.end(after + 1)
    walk.assign("SET", [name], [walk.tokens[after + 1 : end]])
    return end


@head("SET", "LET")
def set_variables(walk: Walk, position: int) -> int | None:
    """`SET a = x, b = y`, `SET (a, b) = (query)`, `LET a type := x`."""
    at = position + 1
    if walk.word(at) in ("VAR", "VARIABLE"):
        at += 1
    elif walk.word(at) in _SCHEMA_SETTINGS:
        return None
    if walk.word(at) in _SET_OPTIONS:
        return None
    if walk.no_semicolons and walk.tokens[at : at + 1] and walk.tokens[at].token_type is not TokenType.PARAMETER:
        return None
    end = walk.end(position)
    names: list[str] = []
    values: list[list[Token]] = []
    fields: dict[str, Token] = {}
    settings: dict[int, list[Token]] = {}
    is_tuple = walk.word(at) == "("
    while at < end:
        if is_tuple and walk.word(at) in ("(", ",", ")"):
            at += 1
            continue
        name, after = walk.names.read(walk.tokens, walk.words, at)
        if name is None:
            break
        if walk.word(after) in ("CURSOR", "RESULTSET") and result_of_query(walk, name, after, end):
            return walk.after(end)
        if walk.reader.changed and name == walk.names.fold("new") and walk.word(at + 1) == ".":
            name = f"{name}.{walk.word(at + 2)}"
            fields[name] = walk.tokens[at + 2]
        names.append(name)
        if is_tuple and walk.word(after) in (",", ")"):
            at = after
            continue
        sign = walk.find(after, ("=", ":=", "DEFAULT"))
        if sign >= end:
            return None
        stop = end if walk.no_semicolons else min(walk.find(sign, (",",)), end)
        if walk.tokens[at].token_type is TokenType.SESSION_PARAMETER or walk.word(at) == "AUTOCOMMIT":
            settings[len(values)] = [walk.tokens[position], *walk.tokens[at:stop]]
        values.append(_compound(walk, at, sign - 1) + walk.tokens[sign + 1 : stop])
        at = stop + 1
    if is_tuple:
        return _set_tuple(walk, names, at, end)
    if not names or not values:
        return None
    # From left to right: `SET @a = 1, @b = @a`.
    for number, (name, value) in enumerate(zip(names, values, strict=False)):
        if number in settings:
            walk.add(settings[number])
        elif name in fields:
            _set_changed_row(walk, fields[name], value)
        else:
            walk.assign("SET", [name], [value])
    return walk.after(end)


def _set_changed_row(walk: Walk, column: Token, value: list[Token]) -> None:
    """Emit what `SET NEW.a = value` does in a trigger: it fills a column of the trigger's table."""
    first, table = column, walk.reader.changed
    insert = [make_token(TokenType.INSERT, "INSERT", first), make_token(TokenType.INTO, "INTO", first), *table]
    listed = [make_token(TokenType.L_PAREN, "(", first), column, make_token(TokenType.R_PAREN, ")", first)]
    walk.add([*insert, *listed, make_token(TokenType.SELECT, "SELECT", first), *value], ProgramStep("SET"))


def result_of_query(walk: Walk, name: str, after: int, end: int) -> bool:
    """Emit the query of Snowflake's `LET c CURSOR FOR query` or `rs`, `LET rs RESULTSET := (query)`, if any."""
    start = walk.find(after, ("FOR", ":=", "DEFAULT")) + 1
    while start < end and walk.word(start) == "(":
        start, end = start + 1, walk.close(start)
    if start >= end:
        return False
    if walk.word(start) in QUERIES:
        walk.query_into("CURSOR", [name], walk.tokens[start:end], is_row=True)
        return True
    if walk.word(after) == "CURSOR" and end == start + 1:
        walk.query_into("CURSOR", [name], walk.from_cursor(start), is_row=True)
        return True
    return False


def _set_tuple(walk: Walk, names: list[str], at: int, end: int) -> int | None:
    if walk.word(at) != "=":
        return None
    query = walk.tokens[at + 1 : end]
    if len(query) > 2 and word_of(query[0]) == "(" and word_of(query[1]) in ("SELECT", "WITH"):
        query = [token for token in query[1:-1] if word_of(token) != "STRUCT"]
        if len(query) > 1 and word_of(query[1]) == "AS":
            del query[1]
        walk.query_into("SET", names, query)
    elif query:
        walk.query_into("SET", names, [make_token(TokenType.SELECT, "SELECT", query[0]), *query[1:-1]])
    return walk.after(end)


def assignments_in_select(walk: Walk, position: int, end: int) -> tuple[list[Token], list[str]] | None:
    """Return the query of `SELECT @a = x, @b := y FROM t` without the assignments, and the variables."""
    at = position + 1
    while walk.word(at) in ("DISTINCT", "ALL", "TOP"):
        at = walk.behind_top(at) if walk.word(at) == "TOP" else at + 1
    if walk.word(at) != "@":
        return None
    tokens = walk.tokens[position:at]
    names: list[str] = []
    while at < end:
        name, sign = walk.names.read(walk.tokens, walk.words, at)
        if name is None:
            return None
        own = _compound(walk, at, sign)
        sign += bool(own)
        if walk.word(sign) not in (("=", ":=") if walk.no_semicolons else (":=",)):
            return None
        stop = min(walk.find(sign, (",", "FROM", "WHERE", "ORDER BY", "OPTION", "GROUP BY", "HAVING")), end)
        names.append(name)
        tokens += own + walk.tokens[sign + 1 : stop]
        if walk.word(stop) != ",":
            return tokens + walk.tokens[stop:end], names
        tokens.append(walk.tokens[stop])
        at = stop + 1
    return None


def assignments_within(walk: Walk, position: int, end: int) -> tuple[str, ...]:
    """Return the variables that MySQL's `@a := value` assigns anywhere in a statement, T-SQL's UPDATE in its SET.

    PostgreSQL's `set_config('a.b', value, false)` assigns a setting.
    """
    if walk.dialect.resets_search_path:
        calls = [at + 2 for at in range(position, end - 3) if walk.words[at] == "SET_CONFIG" and not walk.words[at + 2]]
        return tuple(dict.fromkeys(text for at in calls if "." in (text := walk.tokens[at].text.lower())))
    if walk.dialect.select_into_variables:
        marks = [at - 2 for at in range(position + 2, end) if walk.words[at] == ":=" and walk.words[at - 2] == "@"]
    elif walk.no_semicolons and walk.words[position] == "UPDATE":
        marks = [at for at in range(position, end) if walk.words[at] == "@" and walk.words[at - 1] in ("SET", ",")]
    else:
        return ()
    found = (walk.names.read(walk.tokens, walk.words, at)[0] for at in marks)
    return tuple(dict.fromkeys(name for name in found if name is not None))


def without_into(walk: Walk, position: int, end: int) -> tuple[list[Token], list[str]]:
    """Return a statement without its INTO, and the variables in the INTO."""
    depth = 0
    for at in range(position, end):
        word = walk.words[at]
        depth += (word == "(") - (word == ")")
        if depth or word not in ("INTO", "BULK COLLECT INTO") or walk.words[at - 1] in ("INSERT", "MERGE", "IGNORE"):
            continue
        after = at + 1 + (walk.word(at + 1) == "STRICT")
        names: list[str] = []
        while after < end:
            name, behind = walk.names.read(walk.tokens, walk.words, after)
            if name is None:
                break
            names.append(name)
            after = behind
            if walk.word(after) != ",":
                break
            after += 1
        if names and walk.word(at + 1) not in ("OUTFILE", "DUMPFILE", "TABLE", "TEMP", "TEMPORARY", "UNLOGGED"):
            return walk.tokens[position:at] + walk.tokens[after:end], names
    return walk.tokens[position:end], []


@head("FETCH")
def fetch(walk: Walk, position: int) -> int | None:
    """`FETCH NEXT FROM c INTO a, b`: assign the cursor's columns."""
    end = walk.end(position)
    into = walk.find(position, ("INTO", "BULK COLLECT INTO"))
    if into >= end:
        return walk.after(end)
    _, names = without_into(walk, position, end)
    if walk.word(into - 1) and names:
        walk.query_into("FETCH", names, walk.from_cursor(into - 1))
    return walk.after(end)


def _compound(walk: Walk, name: int, operator: int) -> list[Token]:
    """Return the tokens that `@a += x` implies before x: the variable and the operator."""
    if walk.word(operator) in _OPERATORS and walk.word(operator + 1) == "=":
        return walk.tokens[name : operator + 1]
    return []
