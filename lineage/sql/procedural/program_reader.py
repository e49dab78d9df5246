"""Turn procedural text into plain statements, in order. All branches of the control flow are read.

Declarations, assignments, conditions and loops become steps with a query each; BEGIN, END, IF, LOOP and the like are
reduced to the blocks that contain a step. Nothing is executed: whether a branch is taken is not evaluated.
Sources: PostgreSQL chapter 43 (PL/pgSQL), Oracle PL/SQL Language Reference, Transact-SQL control-of-flow, Snowflake
Scripting, BigQuery procedural language, MySQL 13.6 (compound statements), Spark SQL scripting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot.tokenizer_core import Token, TokenType

from lineage.model.dialect import Dialect
from lineage.sql.procedural import bodies, control  # noqa: F401  registers the rules
from lineage.sql.procedural.assignments import (
    assignment,
    assignments_in_select,
    assignments_within,
    without_into,
)
from lineage.sql.procedural.declarations import declaration
from lineage.sql.procedural.program_steps import ProgramPiece, ProgramStep
from lineage.sql.procedural.text.routines import is_routine
from lineage.sql.procedural.text.tokens import make_token, word_of
from lineage.sql.procedural.variables import routines_of
from lineage.sql.procedural.walk import Reader, Walk

__all__ = ["is_procedural", "read_program"]

_STARTS = frozenset(
    ("BEGIN", "DECLARE", "IF", "WHILE", "LOOP", "FOR", "REPEAT", "CASE", "DO", "EXECUTE", "EXEC", "PREPARE", "LET",
     "DELIMITER", "<<", "/", "START", "ROLLBACK", "SAVEPOINT")
)  # fmt: skip
_WRITES = frozenset(("INSERT", "UPDATE", "DELETE", "MERGE"))
# Control statements that neither read nor write: skipped to their end.
_SKIPPED = frozenset(
    ("EXIT", "LEAVE", "ITERATE", "CONTINUE", "BREAK", "RAISE", "RAISERROR", "THROW", "SIGNAL", "RESIGNAL", "NULL",
     "GOTO", "WAITFOR", "PRINT", "CLOSE", "DEALLOCATE", "GET", "ASSERT", "PRAGMA", "TYPE", "SUBTYPE", "GO")
)  # fmt: skip


def is_procedural(tokens: Sequence[Token], dialect: Dialect, *, assigns: bool = False) -> bool:
    """Return whether a statement, by its first words, must be read as a program; `assigns`: its text may assign
    variables within expressions.
    """
    first = tokens[0].text.upper()
    if first in _STARTS:
        return first != "START" or (len(tokens) > 1 and tokens[1].text.upper() == "TRANSACTION")
    if first == "SET":
        return dialect.set_assigns_variables
    if dialect.select_into_variables and first == "CALL":
        return any("@" in token.text for token in tokens)
    if dialect.select_into_variables and (assigns or first == "SELECT"):
        kinds = {token.token_type for token in tokens}
        if TokenType.COLON_EQ in kinds or (first == "SELECT" and TokenType.INTO in kinds):
            return True
    if assigns and dialect.resets_search_path and any(token.text.lower() == "set_config" for token in tokens):
        return True
    return first in ("CREATE", "ALTER") and is_routine([token.text.upper() for token in tokens[1:12]])


def read_program(tokens: list[Token], text: str, dialect: Dialect) -> list[ProgramPiece]:
    """Return the statements of a program, each with at least one token."""
    reader = Reader(text, dialect, (_in_section, _assigns, _skip, _calls, _plain))
    reader.read(tokens, ())
    pieces: list[ProgramPiece] = []
    declared: list[ProgramStep] = []
    for piece in reader.pieces:
        if not piece.tokens:  # a declaration without a value is merged into the next piece
            if piece.step is not None:
                declared.append(piece.step)
            continue
        for step in declared:
            own = piece.step or ProgramStep()
            if routines_of(step.blocks) <= routines_of(own.blocks):
                piece.step = replace(own, declares=(*step.declares, *own.declares))
        declared.clear()
        pieces.append(piece)
    return pieces


def _in_section(walk: Walk, position: int) -> int | None:
    """A declaration, if a declaration section is open; in a package, what is not a routine is one."""
    return declaration(walk, position) if walk.frames and walk.frames[-1].kind in ("section", "package") else None


def _assigns(walk: Walk, position: int) -> int | None:
    after = assignment(walk, position)
    return walk.after(after) if after is not None else None


def _skip(walk: Walk, position: int) -> int | None:
    """RAISE, EXIT, PRINT and the like, which neither read nor write."""
    if walk.words[position] not in _SKIPPED or not (walk.inside() or walk.no_semicolons):
        return None
    return walk.after(walk.end(position))


def _calls(walk: Walk, position: int) -> int | None:
    """`package.procedure(x)` in a body: its lineage belongs to its own definition."""
    name, after = walk.names.read(walk.tokens, walk.words, position)
    if name is None or not walk.inside() or walk.no_semicolons:
        return None
    after = walk.close(after) + 1 if walk.word(after) == "(" else after
    if after < len(walk.tokens) and walk.word(after) != ";":
        return None
    walk.emit(position, after, ProgramStep("EXECUTE", bodies.assigned_by_call(walk, position, after)), has_sql=False)
    return walk.after(after)


def _plain(walk: Walk, position: int) -> int:
    """A plain statement; in a body, `SELECT … INTO variable` and `… RETURNING … INTO variable` are assignments."""
    end = walk.end(position)
    targets: list[str] = []
    tokens = _without_top(walk, position, end)
    within = assignments_within(walk, position, end)
    select = walk.find(position, ("SELECT",)) if walk.words[position] in ("SELECT", "WITH") else end
    found = assignments_in_select(walk, select, end) if select < end else None
    if found is not None and not walk.reads_assigned(found[1], position, end):
        tokens, targets = [*walk.tokens[position:select], *found[0]], found[1]
    elif _in_body_of_variables(walk) and walk.words[position] in (
        "SELECT",
        "WITH",
        "INSERT",
        "UPDATE",
        "DELETE",
        "MERGE",
        "(",
    ):
        tokens, targets = without_into(walk, position, end)
    if walk.words[position] == "INSERT" and walk.dialect.routines_begin_with_declarations:
        tokens = _with_record(tokens)
    if targets:
        walk.query_into("SELECT", targets, tokens)
    elif within:
        walk.add(tokens, ProgramStep(assigns=within))
    else:
        walk.add(tokens)
    return walk.after(end)


def _without_top(walk: Walk, start: int, end: int) -> list[Token]:
    """Return a statement without the TOP of its INSERT, UPDATE, DELETE or MERGE; a number from a query becomes a LIMIT.

    A plain number of rows has no lineage.
    """
    for at in range(start, end - 1 if walk.no_semicolons else start):
        if walk.words[at] in _WRITES and walk.words[at + 1] == "TOP":
            behind = walk.behind_top(at + 1)
            number = walk.tokens[at + 2 : behind] if "SELECT" in walk.words[at:behind] else []
            limit = [make_token(TokenType.LIMIT, "LIMIT", number[0]), *number] if number else []
            return [*walk.tokens[start : at + 1], *walk.tokens[behind:end], *limit]
    return walk.tokens[start:end]


def _with_record(tokens: list[Token]) -> list[Token]:
    """Return PL/SQL's `INSERT INTO t VALUES r` as `INSERT INTO t SELECT * FROM r`; r may be an element of a collection.

    https://docs.oracle.com/en/database/oracle/oracle-database/23/lnpls/INSERT-statement-extension.html
    """
    at = next((i for i, token in enumerate(tokens) if word_of(token) == "VALUES"), len(tokens))
    if at + 1 >= len(tokens) or word_of(tokens[at + 1]) == "(":
        return tokens
    stop = next((i for i in range(at + 1, len(tokens)) if word_of(tokens[i]) in ("(", "RETURNING")), len(tokens))
    after = next((i for i in range(stop, len(tokens)) if word_of(tokens[i]) == "RETURNING"), len(tokens))
    values = tokens[at]
    query = [
        make_token(TokenType.SELECT, "SELECT", values),
        make_token(TokenType.STAR, "*", tokens[at + 1]),
        make_token(TokenType.FROM, "FROM", values),
    ]
    return [*tokens[:at], *query, *tokens[at + 1 : stop], *tokens[after:]]


def _in_body_of_variables(walk: Walk) -> bool:
    return walk.dialect.select_into_variables or (walk.inside() and not walk.no_semicolons)
