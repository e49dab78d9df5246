"""Statements that contain other statements: routines, DO, EXECUTE, PREPARE; and RETURN and PERFORM in them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sqlglot.tokenizer_core import Token, TokenType

from lineage.sql.procedural.assignments import QUERIES, assignments_within, without_into
from lineage.sql.procedural.declarations import declares, open_with_arguments
from lineage.sql.procedural.dynamic import execution_of, operands_of, unknown_sql
from lineage.sql.procedural.parameters import COMMA, arguments_of, output_positions
from lineage.sql.procedural.program_steps import BlockKind, FunctionBody, ProgramPiece, ProgramStep
from lineage.sql.procedural.returning import function_body
from lineage.sql.procedural.text.routines import Body, body_of, holds_statements, is_routine, overloads
from lineage.sql.procedural.text.tokens import STRINGS, Fragment, fragment_of, make_token, tokens_of, word_of
from lineage.sql.procedural.walk import Frame, Walk, head

_ALL_OF = ((TokenType.SELECT, "SELECT"), (TokenType.STAR, "*"), (TokenType.FROM, "FROM"))


@head("EXECUTE", "EXEC")
def execute(walk: Walk, position: int) -> int | None:
    """EXEC, EXECUTE, EXECUTE IMMEDIATE."""
    end = walk.end(position)
    if walk.dialect.has_ampersand_variables and not walk.inside() and walk.word(position + 1) != "IMMEDIATE":
        end = _line_end(walk, position + 1, end)
    return execute_from(walk, position, end, [])


def _line_end(walk: Walk, start: int, end: int) -> int:
    """Return the end of a command of SQL*Plus, which needs no semicolon: at a line's end outside brackets."""
    depth = 0
    for at in range(start, end - 1):
        depth += (walk.words[at] == "(") - (walk.words[at] == ")")
        if not depth and "\n" in walk.text[walk.tokens[at].end : walk.tokens[at + 1].start]:
            return at + 1
    return end


def execute_from(walk: Walk, position: int, end: int, targets: list[str]) -> int | None:
    """Read the constant parts of the SQL that EXECUTE runs."""
    tokens, into = without_into(walk, position, end)
    call = execution_of(tokens, walk.reader.constants, walk.names)
    if call is None:  # a procedure or prepared statement: read where it is defined
        step = ProgramStep("EXECUTE", assigned_by_call(walk, position, end), blocks=walk.blocks())
        walk.reader.pieces.append(ProgramPiece(tokens, step, has_sql=False))
        return walk.after(end)
    if call.statement is not None:
        names = targets or into
        inner = call.statement
        if inner.holes:
            _add_dynamic(walk, inner, names)
        else:
            first = len(walk.reader.pieces)
            walk.inner(inner, arguments_of(tokens))
            found = walk.reader.pieces[first:]
            if names and found:
                last = found[-1]
                last.step = ProgramStep("SELECT", tuple(names), (), walk.blocks(), is_row=bool(targets))
    return walk.after(end)


@head("CALL")
def call(walk: Walk, position: int) -> int | None:
    """`CALL p(a, b)` of a procedure in this text that assigns its arguments."""
    end = walk.end(position)
    assigned = assigned_by_call(walk, position, end)
    if not assigned:
        return None
    walk.emit(position, end, ProgramStep("CALL", assigned), has_sql=False)
    return walk.after(end)


def assigned_by_call(walk: Walk, position: int, end: int) -> tuple[str, ...]:
    """Return the variables that a call assigns: `@v OUTPUT`, `EXEC @v = p`, and arguments of OUT parameters.

    Their content is not followed into the procedure.
    """
    words, variables = walk.words, []
    opened = next((at for at in range(position, end) if words[at] == "("), end)
    for at in range(position, end):
        is_result = walk.no_semicolons and walk.word(at) == "@" and walk.word(at + 2) == "=" and at <= position + 1
        if is_result or (walk.no_semicolons and words[at] == "@" and walk.word(at + 2) in ("OUT", "OUTPUT")):
            variables.append(walk.names.read(walk.tokens, words, at)[0])
    name = words[opened - 1] if opened < end else ""
    arguments = operands_of(walk.tokens[opened + 1 : end - (walk.word(end - 1) == ")")], COMMA) if name else []
    places = walk.reader.outputs.get(name)
    if places is None and walk.dialect.select_into_variables:  # not defined here: `@v` may be an OUT parameter
        places = [at for at, argument in enumerate(arguments) if argument and argument[0].text == "@"]
    for place in places or ():
        if place < len(arguments):
            argument = list(arguments[place])
            variable, after = walk.names.read(argument, [word_of(token) for token in argument], 0)
            variables.append(variable if after == len(argument) else None)
    return tuple(one for one in variables if one is not None)


def _add_dynamic(walk: Walk, inner: Fragment, names: Sequence[str]) -> None:
    """Emit SQL that is known in part."""
    step = ProgramStep("EXECUTE", tuple(names), blocks=walk.blocks(), dynamic=True)
    walk.reader.pieces.append(ProgramPiece(tokens_of(inner, walk.text, walk.dialect), step, has_sql=False))


_PREPARED = frozenset(("(", "SELECT", "WITH", "VALUES", "TABLE", "INSERT", "UPDATE", "DELETE", "MERGE", "CREATE"))


@head("PREPARE")
def prepare(walk: Walk, position: int) -> int | None:
    """`PREPARE p AS query`, which EXECUTE p runs; MySQL's `PREPARE p FROM string`, if the string is constant.

    Trino's `PREPARE p FROM` has a statement: https://trino.io/docs/current/sql/prepare.html
    """
    end = walk.end(position)
    start = walk.find(position, ("AS", "FROM"))
    if start >= end:
        return None
    if walk.word(start) == "AS" or walk.word(start + 1) in _PREPARED:
        walk.add(walk.tokens[start + 1 : end])
    else:
        name = walk.names.read(walk.tokens, walk.words, position + 1)[0]
        constants = walk.reader.constants
        if name is not None:
            constants.assign(name, walk.tokens[start + 1 : end], walk.names, certain=True)
        if start + 1 < end and constants.value(walk.tokens[start + 1 : end], walk.names) is None:
            _add_dynamic(walk, unknown_sql(walk.tokens[start + 1]), [])
    return walk.after(end)


@head("DO")
def do(walk: Walk, position: int) -> int | None:
    """`DO $$ … $$`: an anonymous block."""
    end = walk.end(position)
    body = next((t for t in walk.tokens[position:end] if t.token_type in STRINGS), None)
    if body is None:
        if walk.dialect.select_into_variables:  # MySQL's `DO @a := 1`: a SELECT whose result is discarded
            walk.tokens[position] = make_token(TokenType.SELECT, "SELECT", walk.tokens[position])
            walk.words[position] = "SELECT"
        return None
    walk.frames.append(Frame("routine", walk.reader.block(BlockKind.ROUTINE), single=True))
    walk.inner(fragment_of(body, walk.text, walk.dialect))
    return walk.after(end)


@head("CREATE", "ALTER", "PROCEDURE", "FUNCTION")
def routine(walk: Walk, position: int) -> int | None:
    """CREATE PROCEDURE, FUNCTION, TRIGGER, PACKAGE: emit the header as a statement, then those of the body."""
    words = walk.words
    nested = words[position] in ("PROCEDURE", "FUNCTION")
    in_section = bool(walk.frames) and walk.frames[-1].kind in ("section", "package")
    if not (in_section if nested else is_routine(words[position + 1 : position + 12])):
        return None
    body = body_of(walk.tokens, words, position, walk.dialect)
    if body is None:
        return None if not nested else walk.end(position) + 1
    if body.kind == "MACRO" and len(defined := overloads(words, position, end := walk.end(position))) > 1:
        for start, stop in defined:
            walk.reader.read([*walk.tokens[position : defined[0][0]], *walk.tokens[start:stop]], walk.blocks())
        return walk.after(end)
    header = walk.tokens[position : body.start]
    function = None if nested else _function(walk, header, body)
    _note_outputs(walk, header)
    if not nested:
        step = ProgramStep("CREATE_" + body.kind, blocks=walk.blocks(), function=function)
        walk.reader.pieces.append(ProgramPiece(header, step, False))
    frame = Frame(
        "routine", walk.reader.block(BlockKind.ROUTINE), single=not walk.no_semicolons, batch=walk.no_semicolons
    )
    if walk.no_semicolons:
        walk.batch_ends()
    walk.frames.append(frame)
    if body.parameters:
        declares(walk, [walk.names.fold(name) for name in body.parameters])
        if function is not None and body.language != "PLPGSQL":  # `f.x` is its parameter: it has no other variables
            declares(walk, [walk.names.fold(function.name)])
    walk.reader.changed = []
    if body.kind in ("TRIGGER", "FUNCTION"):
        _changed_rows(walk, header, body.kind)
    if body.string is not None:
        return _string(walk, body, body.string)
    if body.is_expression:
        return _expression(walk, body)
    if body.has_section:
        walk.frames.append(Frame("package" if body.kind == "PACKAGE" else "section"))
        if body.kind == "PACKAGE":
            _open_package(walk, words[position : body.start])
    return body.start


def _function(walk: Walk, header: Sequence[Token], body: Body) -> FunctionBody | None:
    inner = walk.tokens[body.start :]
    if body.string is not None:
        inner = tokens_of(fragment_of(body.string, walk.text, walk.dialect), walk.text, walk.dialect)
    return function_body(header, body, inner, walk.no_semicolons)


def _string(walk: Walk, body: Body, string: Token) -> int:
    """Read a body that is a string, if it is in a language of SQL; return where its statement ends."""
    if body.language in ("", "SQL", "PLPGSQL", "PLSQL"):
        fragment = fragment_of(string, walk.text, walk.dialect)
        if holds_statements([word_of(token) for token in tokens_of(fragment, walk.text, walk.dialect)[:1]]):
            walk.inner(fragment)
    return walk.after(walk.end(body.start))


def _expression(walk: Walk, body: Body) -> int:
    """Read a body that is what the function returns; return where its statement ends."""
    words, end = walk.words, walk.end(body.start)
    if words[body.start] == "TABLE":  # DuckDB's table macro
        walk.emit(body.start + 1, end, ProgramStep("RETURN"))
    elif "SELECT" in words[body.start : end]:
        return_statement(walk, body.start - (words[body.start] != "RETURN"))
        return end
    return walk.after(end)


def _open_package(walk: Walk, header: list[str]) -> None:
    """Declare the variables of a package's specification in its body, too."""
    is_body = "BODY" in header
    at = header.index("BODY" if is_body else "PACKAGE") + 1
    at += 3 * (header[at : at + 3] == ["IF", "NOT", "EXISTS"])
    while header[at + 1 : at + 2] == ["."]:
        at += 2
    name = header[at] if at < len(header) else ""
    walk.reader.package = None if is_body else name
    if is_body and (known := walk.reader.packages.get(name)):
        declares(walk, known)


def _note_outputs(walk: Walk, header: list[Token]) -> None:
    opened = next((at for at, token in enumerate(header) if word_of(token) == "("), 0)
    if opened:
        walk.reader.outputs[word_of(header[opened - 1])] = output_positions(header)


def _changed_rows(walk: Walk, header: list[Token], kind: str) -> None:
    """Declare NEW and OLD, in T-SQL inserted and deleted: rows of the trigger's table.

    A PostgreSQL trigger function does not name the table.
    """
    words = [word_of(token) for token in header]
    if kind == "FUNCTION":
        if any(pair == ("RETURNS", "TRIGGER") for pair in pairwise(words)):
            declares(walk, [walk.names.fold("new"), walk.names.fold("old")])
        return
    at = next((i for i, word in enumerate(words) if word == "ON"), len(words)) + 1
    end = at + 1
    while end + 1 < len(words) and words[end] == ".":
        end += 2
    if end > len(words) or walk.dialect.triggers_prefix_rows:
        return
    first = header[at]
    walk.reader.changed = header[at:end]
    select = [make_token(kind_, text, first) for kind_, text in _ALL_OF]
    for name in ("inserted", "deleted") if walk.no_semicolons else ("new", "old"):
        walk.query_into("TRIGGER", [walk.names.fold(name)], [*select, *header[at:end]], is_row=True)


@head("RETURN")
def return_statement(walk: Walk, position: int) -> int | None:
    """RETURN: a returned query is emitted as a bare query."""
    end = walk.end(position)
    at = position + 1
    if walk.word(at) == "QUERY":
        at += 1
        if walk.word(at) == "EXECUTE":
            execute_from(walk, at, end, [])
            return walk.after(end)
    if walk.word(at) in ("SELECT", "WITH"):
        walk.add(walk.tokens[at:end], ProgramStep("RETURN"))
    elif "SELECT" in walk.words[at:end]:
        if walk.word(at) == "TABLE" and walk.word(at + 1) == "(":
            walk.add(walk.tokens[at + 2 : walk.close(at + 1)], ProgramStep("RETURN"))
        elif walk.word(at) == "(" and walk.word(at + 1) in ("SELECT", "WITH") and walk.close(at) >= end - 1:
            walk.add(walk.tokens[at + 1 : walk.close(at)], ProgramStep("RETURN"))
        else:
            walk.add(
                [make_token(TokenType.SELECT, "SELECT", walk.tokens[at]), *walk.tokens[at:end]], ProgramStep("RETURN")
            )
    return walk.after(end)


@head("PERFORM")
def perform(walk: Walk, position: int) -> int | None:
    """PL/pgSQL's PERFORM, a SELECT whose result is discarded."""
    end = walk.end(position)
    if not walk.inside():
        return None
    first = walk.tokens[position]
    within = assignments_within(walk, position, end)
    step = ProgramStep(assigns=within) if within else ProgramStep("PERFORM")
    walk.add([make_token(TokenType.SELECT, "SELECT", first), *walk.tokens[position + 1 : end]], step)
    return walk.after(end)


@head("OPEN")
def open_cursor(walk: Walk, position: int) -> int | None:
    """`OPEN c FOR query`."""
    end = walk.end(position)
    name, after = walk.names.read(walk.tokens, walk.words, position + 1)
    start = walk.find(after, ("FOR",)) + 1
    if name is not None and start < end:
        if walk.word(start) == "EXECUTE":
            execute_from(walk, start, end, [name])
        elif walk.word(start) in QUERIES:
            walk.query_into("CURSOR", [name], walk.tokens[start:end], is_row=True)
        elif walk.reader.constants.value(walk.tokens[start : walk.find(start, ("USING",))], walk.names) is not None:
            execute_from(walk, start, end, [name])
        else:
            _add_dynamic(walk, unknown_sql(walk.tokens[start]), [name])
    elif name is not None:
        open_with_arguments(walk, name, after)
    return walk.after(end)
