"""DECLARE: declaration sections, single declarations, cursors, table variables."""

from __future__ import annotations

from sqlglot.tokenizer_core import Token, TokenType

from lineage.sql.procedural.assignments import QUERIES, result_of_query
from lineage.sql.procedural.dynamic import operands_of
from lineage.sql.procedural.parameters import COMMA, NO_TOKENS, with_arguments
from lineage.sql.procedural.program_steps import BlockKind, Declaration, ProgramPiece, ProgramStep
from lineage.sql.procedural.text.tokens import make_token, word_of
from lineage.sql.procedural.walk import Frame, Walk, head

_HANDLED_BY = frozenset(
    ("BEGIN", "SET", "SELECT", "INSERT", "UPDATE", "DELETE", "CALL", "ROLLBACK", "RESIGNAL", "LEAVE")
)
"""First words of a handler's statement."""


_OF_TABLES = frozenset(("LOCAL", "GLOBAL", "TEMP", "TEMPORARY"))


@head("DECLARE")
def declare(walk: Walk, position: int) -> int | None:
    """DECLARE: a single declaration or the start of a section. A temporary table is a statement."""
    if "TABLE" in walk.words[position + 2 : position + 4] and walk.word(position + 1) in _OF_TABLES:
        return None
    if walk.no_semicolons:
        return walk.after(_declare_in_batch(walk, position))
    if walk.dialect.has_declare_sections and (walk.inside() or _opens_section(walk, position)):
        walk.open("section", None if walk.inside() else BlockKind.ROUTINE)
        return position + 1
    return walk.after(_declare_one(walk, position))


def _opens_section(walk: Walk, position: int) -> bool:
    """Return whether a section of declarations up to a BEGIN follows, not SQL's DECLARE CURSOR."""
    return walk.find(position + 1, ("BEGIN",), until_semicolon=False) < len(walk.words)


def declaration(walk: Walk, position: int) -> int:
    """One declaration of a section: `name type := value;`, `CURSOR c IS query;`, `c CURSOR FOR query;`."""
    end = walk.end(position)
    if walk.words[position] in ("PRAGMA", "TYPE", "SUBTYPE"):
        return end + 1
    at = position + (walk.words[position] == "CURSOR")
    name, after = walk.names.read(walk.tokens, walk.words, at)
    if name is None:
        return end + 1
    is_result = walk.dialect.declares_behind_as and walk.word(after) in ("CURSOR", "RESULTSET")
    if is_result and result_of_query(walk, name, after, end):
        return end + 1
    if "CURSOR" in walk.words[position : after + 3]:
        cursor(walk, name, after, end)
        return end + 1
    value = walk.find(after, (":=", "DEFAULT", "="))
    declare_value(walk, name, value, end)
    return end + 1


def declare_value(walk: Walk, name: str, sign: int, end: int) -> None:
    """Emit the initial value of a variable, if there is one."""
    values = [walk.tokens[sign + 1 : end]] if sign < end else []
    if values:
        walk.assign("DECLARE", [name], values, declares=True)
    else:
        declares(walk, [name])


def declares(walk: Walk, names: list[str]) -> None:
    """Record that these names are variables from here on."""
    blocks = walk.blocks()
    declared = tuple(Declaration(name, blocks) for name in names)
    if walk.reader.package is not None and walk.frames and walk.frames[-1].kind == "package":
        walk.reader.packages.setdefault(walk.reader.package, []).extend(names)
    walk.reader.pieces.append(ProgramPiece([], ProgramStep("DECLARE", declares=declared, blocks=blocks)))


def cursor(walk: Walk, name: str, after: int, end: int) -> None:
    """Emit the query of a cursor's declaration."""
    start = walk.find(after, ("FOR", "IS", "AS"))
    while start < end and walk.word(start) not in QUERIES:
        start += 1
    if start < end:
        query = walk.tokens[start : min(end, walk.find(start, ("FOR",)))]
        opened = next((at for at in range(after, start) if walk.words[at] == "("), start)
        if opened < start:
            listed = operands_of(walk.tokens[opened + 1 : walk.close(opened)], COMMA)
            parameters = [walk.names.fold(written[0].text) for written in listed]
            walk.reader.cursors[name] = (parameters, query)
            query = with_arguments(query, dict.fromkeys(parameters, ()), walk.names.fold)
        walk.query_into("CURSOR", [name], query, is_row=True)
    else:
        declares(walk, [name])


def open_with_arguments(walk: Walk, name: str, opened: int) -> None:
    """Emit the query of a cursor with parameters again, for the arguments in the brackets at a position."""
    parameters, query = walk.reader.cursors.get(name, ((), []))
    if not parameters or walk.word(opened) != "(":
        return
    given = dict.fromkeys(parameters, NO_TOKENS)
    for position, written in enumerate(operands_of(walk.tokens[opened + 1 : walk.close(opened)], COMMA)):
        if len(written) > 2 and word_of(written[1]) in (":=", "=>"):
            given[walk.names.fold(written[0].text)] = written[2:]
        elif position < len(parameters):
            given[parameters[position]] = written
    walk.query_into("CURSOR", [name], with_arguments(query, given, walk.names.fold), is_row=True)


def _declare_one(walk: Walk, position: int) -> int:
    """`DECLARE a, b type DEFAULT value;`, a cursor, or MySQL's `DECLARE … HANDLER FOR condition statement`."""
    end = walk.end(position)
    if "HANDLER" in walk.words[position : position + 4]:
        start = walk.find(position, ("FOR",)) + 1
        while start < end and walk.word(start) not in _HANDLED_BY:
            start += 1
        walk.frames.append(Frame("handler", walk.reader.block(BlockKind.BRANCH), single=True))
        return walk.statement(start) if start < end else end
    at = position + 1
    while walk.word(at) in ("OR", "REPLACE", "VARIABLE", "VAR"):
        at += 1
    names: list[str] = []
    while True:
        name, after = walk.names.read(walk.tokens, walk.words, at)
        if name is None:
            break
        names.append(name)
        at = after
        if walk.word(at) != ",":
            break
        at += 1
    if not names:
        walk.emit(position, end)
    elif "CURSOR" in walk.words[at : at + 4]:
        cursor(walk, names[0], at, end)
    else:
        sign = walk.find(at, ("DEFAULT", "=", ":="))
        for name in names:
            declare_value(walk, name, sign, end)
    return end


def _declare_in_batch(walk: Walk, position: int) -> int:
    """T-SQL: `DECLARE @a int = 1, @t TABLE (…)`, `DECLARE c CURSOR FOR query`."""
    end = walk.end(position)
    name, after = walk.names.read(walk.tokens, walk.words, position + 1)
    if name is not None and "CURSOR" in walk.words[after : after + 4]:
        cursor(walk, name, after, end)
        return end
    at = position + 1
    while at < end:
        stop = min(walk.find(at, (",",)), end)
        name, after = walk.names.read(walk.tokens, walk.words, at)
        if name is None:
            break
        after += walk.word(after) == "AS"
        if walk.word(after) == "TABLE":
            _table_variable(walk, at, after, stop)
        else:
            declare_value(walk, name, walk.find(after, ("=",)), stop)
        at = stop + 1
    return end


def _table_variable(walk: Walk, name: int, table: int, end: int) -> None:
    """Emit `CREATE TABLE @t (…)`, since a table variable is a temporary table."""
    at, kind = walk.tokens[name], walk.tokens[table]
    last = walk.tokens[table - 1] if walk.words[table - 1] != "AS" else walk.tokens[table - 2]
    text = walk.text[at.start : last.end + 1]
    named = Token(TokenType.VAR, text, last.line, last.col, at.start, last.end, [])
    created = [make_token(TokenType.CREATE, "CREATE", at), kind, named, *walk.tokens[table + 1 : end]]
    walk.add(created)
