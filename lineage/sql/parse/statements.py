"""Split SQL text into statements: tokenize the whole text once, then parse each statement separately.

A statement that cannot be parsed does not affect the others. All positions refer to the whole text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.model.dialect import Dialect
from lineage.model.dialects import dialect_named
from lineage.sql.budget import Budget
from lineage.sql.parse import parse_errors
from lineage.sql.parse.guard import PARSER_DEFECTS, GuardedParser, NestingError, tools_of
from lineage.sql.parse.parsed import ParsedStatement, ReadFrom, span_between
from lineage.sql.parse.placeholders import fill_placeholders, name_by_templates
from lineage.sql.parse.quotes import dialect_of_quotes
from lineage.sql.parse.recovering.client_commands import without_client_commands
from lineage.sql.parse.recovering.fallbacks import read_statement, read_without_tree
from lineage.sql.procedural import (
    STRINGS,
    Fragment,
    ProgramPiece,
    is_procedural,
    read_program,
    tokenize,
    tokens_of,
    with_semicolons,
)
from lineage.sql.procedural.text.tokens import has_back_ticks, is_readable
from lineage.sql.scan.executable_comments import open_executable_comments
from lineage.sql.scan.leading import LEADING
from lineage.sql.scan.pieces import PieceKind, pieces

__all__ = ["parse_statements", "parse_tokens"]

_DEFAULT = Budget()

# For lineage, REPLACE INTO (MySQL, SQLite) is an INSERT; sqlglot parses it as a command. Both words have one length.
_REPLACE_INTO = re.compile(rf"((?:\A|;){LEADING})replace(?=\s+into\b)", re.IGNORECASE)
_USER = r"""(?:'[^']*'|"[^"]*"|`[^`]*`|[\w$.%?-]+(?:\s*\(\s*\))?)"""
_CREATE_OPTIONS = re.compile(
    rf"\b(create(?:\s+or\s+replace)?|alter)((?:\s+(?:algorithm\s*=\s*\w+|sql\s+security\s+\w+"
    rf"|definer\s*=\s*{_USER}(?:\s*@\s*{_USER})?))+)(?=\s)",
    re.IGNORECASE,
)
"""MySQL's options of views, routines, triggers and events, in any order: they say who may do what, and how."""
_QUERIES = frozenset((TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.VALUES))
_start_of = attrgetter("start")


def parse_statements(text: str, dialect: Dialect, budget: Budget = _DEFAULT) -> Iterator[ParsedStatement]:
    """Yield the statements of a text in order. Empty ones are skipped; those that exceed the budget are not parsed."""
    guessed = dialect_of_quotes(text) if dialect.name == "ansi" else None
    if guessed is not None:
        dialect = dialect_named(guessed)
    text, of_client, *_ = without_client_commands(open_executable_comments(text, dialect), dialect)
    text, doubts, names, placeholders = fill_placeholders(text, dialect)
    doubts = (*doubts, *of_client)
    for parsed in _statements_of(text, dialect, budget):
        parsed.read_as = guessed
        if names and parsed.tree is not None:
            name_by_templates(parsed.tree, names)
        if doubts:
            parsed.doubts = (*parsed.doubts, *_doubts_of(parsed, doubts, text))
        if placeholders:
            parsed.placeholders = {at: one for at, one in placeholders.items() if _is_part(parsed, at, text)}
        if "`" in text:
            parsed.doubts = (*parsed.doubts, *_back_tick_in(parsed, dialect))
        yield parsed


def _back_tick_in(parsed: ParsedStatement, dialect: Dialect) -> Iterator[Diagnostic]:
    """Yield the doubt about a name in back ticks, if the dialect has none: another may be meant."""
    for token in parsed.tokens if not has_back_ticks(dialect) else ():
        if token.token_type is TokenType.IDENTIFIER and parsed.text[token.start : token.start + 1] == "`":
            message = f"back ticks do not quote names in {dialect.name}: they are read as if they did"
            hint = "give the dialect that the text is written in, or quote names as this one does"
            span = span_between(token, token)
            yield Diagnostic(DiagnosticCode.UNSUPPORTED_SYNTAX, Severity.WARNING, message, span, hint)
            return


def _is_part(parsed: ParsedStatement, at: int, text: str) -> bool:
    """Return whether a position is in a statement, or directly behind it, where a placeholder is replaced by spaces."""
    start, end = parsed.span.start, parsed.span.end
    return start <= at < end or (at >= end and not text[end:at].strip() and text[at : at + 1].isspace())


def _doubts_of(parsed: ParsedStatement, doubts: Sequence[Diagnostic], text: str) -> tuple[Diagnostic, ...]:
    """Return the doubts about placeholders in a statement; one in a comment or string is left out."""
    found = []
    tokens = sorted(parsed.tokens, key=_start_of)
    for doubt in doubts:
        span = doubt.span
        if span is None or not _is_part(parsed, span.start, text):
            continue
        at = bisect_right(tokens, span.start, key=_start_of) - 1
        token = tokens[at] if at >= 0 and tokens[at].end >= span.start else None
        is_tag = text[span.start].isspace()  # a tag is replaced by spaces
        if is_tag if token is None else token.token_type not in STRINGS:
            found.append(doubt)
    return tuple(found)


def _statements_of(text: str, dialect: Dialect, budget: Budget) -> Iterator[ParsedStatement]:
    tokenizer, parser = tools_of(dialect, budget.nesting)
    if dialect.replace_is_insert:
        text = _REPLACE_INTO.sub(r"\1INSERT ", text)
        text = _CREATE_OPTIONS.sub(lambda match: match[1] + re.sub(r"[^\n]", " ", match[2]), text)
        text = with_semicolons(text, dialect.name)
    if dialect.has_two_grammars and (found := _each_by_itself(text, dialect)):
        for piece in found:
            if is_procedural(piece, dialect):
                yield from _program(parser, piece, text, dialect, budget)
            else:
                yield from read_statement(piece, text, dialect, budget, parser)
        return
    tail: ParsedStatement | None = None
    batches = dialect.needs_no_semicolon
    try:
        tokens = tokenize(text, dialect) if batches else tokenizer.tokenize(text)
    except TokenError:
        text, start = _close(text, dialect)
        if start is not None:
            # An unclosed string swallows the rest of the text: that statement is traced by its keywords.
            span = Span.locate(text, start, len(text))
            message = "a string, quoted name or comment in this statement is not closed"
            problem = parse_errors.error(DiagnosticCode.TRUNCATED_TEXT, message, span)
            tail = ParsedStatement(None, _readable(text, start, dialect), span, problem, text)
            tail = read_without_tree(tail, dialect, budget)
        tokens = _readable(text[:start], 0, dialect)
    statements = list(_statements(tokens, text))
    if batches:
        yield from _program(parser, tokens, text, dialect, budget)
    elif any(is_procedural(piece, dialect, assigns=":=" in text or "set_config" in text) for piece in statements):
        ends = statements[-1][-1].end + 1
        yield from _program(parser, tokenize(text[:ends], dialect), text, dialect, budget)
    else:
        for piece in statements:
            yield from read_statement(piece, text, dialect, budget, parser)
    if tail is not None:
        yield tail


def _each_by_itself(text: str, dialect: Dialect) -> list[list[Token]]:
    """Return the tokens of each statement, read with its own grammar; an empty list if one cannot be tokenized."""
    ends = [piece.start for piece in pieces(text, dialect.name) if piece.kind is PieceKind.SEMICOLON]
    found: list[list[Token]] = []
    start = 0
    for end in (*ends, len(text)):
        part = Fragment(text[start:end], tuple(range(start, end)))
        tokens = tokens_of(part, text, dialect)
        if tokens:
            found.append(tokens)
        elif not is_readable(part, dialect):
            return []
        start = end + 1
    return found


def _program(
    parser: GuardedParser, tokens: list[Token], text: str, dialect: Dialect, budget: Budget
) -> Iterator[ParsedStatement]:
    """Yield the statements of procedural text and of the bodies in it, each with its control-flow step."""
    try:
        pieces = list(read_program(tokens, text, dialect))
    except Exception as error:  # noqa: BLE001  a bug here loses the control flow, not the statements in it
        message = f"internal error in reading a program: {type(error).__name__}"
        span = span_between(tokens[0], tokens[-1])
        problem = parse_errors.error(DiagnosticCode.INTERNAL_ERROR, message, span)
        yield read_without_tree(ParsedStatement(None, tokens, span, problem, text), dialect, budget)
        for statement in _statements(tokens, text):
            yield from read_statement(statement, text, dialect, budget, parser)
        return
    unknown_rows = False
    for piece in pieces:
        if piece.step is not None and piece.step.operation.startswith("CREATE_"):
            unknown_rows = _has_unknown_rows(piece, dialect)
        if piece.step is None:
            yield from read_statement(piece.tokens, text, dialect, budget, parser, as_written=False)
            continue
        first = min(piece.tokens, key=attrgetter("start"))  # a step's tokens may be gathered from several places
        span = span_between(first, max(piece.tokens, key=attrgetter("end")))
        if piece.unreadable:
            message = "a string, quoted name or comment inside this SQL string is not closed"
            problem = parse_errors.error(DiagnosticCode.PARSE_ERROR, message, span)
            yield ParsedStatement(None, [], span, problem, text, piece.step, read_from=ReadFrom.KEYWORDS)
        elif not piece.has_sql:
            yield ParsedStatement(None, piece.tokens, span, None, text, piece.step, read_from=ReadFrom.STEP)
        else:
            changed_rows = _changed_rows(piece.tokens) if unknown_rows else ()
            for parsed in read_statement(piece.tokens, text, dialect, budget, parser, as_written=False):
                yield replace(parsed, span=span, step=piece.step, doubts=changed_rows)


def _has_unknown_rows(piece: ProgramPiece, dialect: Dialect) -> bool:
    """Return whether NEW and OLD in the body of a routine are rows of a table that is not known.

    PostgreSQL's trigger functions do not name it; Oracle's `:NEW` is not followed.
    """
    words = [token.text.upper() for token in piece.tokens]
    if piece.step is not None and piece.step.operation == "CREATE_TRIGGER":
        return dialect.triggers_prefix_rows
    return ("RETURNS", "TRIGGER") in pairwise(words)


def _changed_rows(tokens: Sequence[Token]) -> tuple[Diagnostic, ...]:
    """Return the finding that a statement reads NEW or OLD, whose table is not known."""
    token = next((token for token in tokens if token.text.upper() in ("NEW", "OLD")), None)
    if token is None:
        return ()
    message = f"`{token.text}` is a row of the table that a trigger is on: which one is not known here"
    hint = "the edges from its columns are missing"
    span = span_between(token, token)
    return (Diagnostic(DiagnosticCode.UNSUPPORTED_SYNTAX, Severity.WARNING, message, span, hint),)


def parse_tokens(tokens: list[Token], text: str, dialect: Dialect, budget: Budget) -> exp.Expr | None:
    """Return the tree of a query or an expression; None if the tokens are neither, or exceed the budget."""
    if not tokens:
        return None
    is_query = tokens[0].token_type in _QUERIES or (
        tokens[0].token_type is TokenType.L_PAREN and len(tokens) > 1 and tokens[1].token_type in _QUERIES
    )
    first = tokens[0]
    select = Token(TokenType.SELECT, "SELECT", first.line, first.col, first.start, first.end, [])
    try:
        _, parser = tools_of(dialect, budget.nesting)
        trees = parser.parse(tokens if is_query else [select, *tokens], text)
    except (ParseError, NestingError, RecursionError, *PARSER_DEFECTS):
        return None
    tree = trees[0] if trees else None
    if not isinstance(tree, exp.Query):
        return None
    if is_query:
        return tree.this if isinstance(tree, exp.Subquery) and not tree.alias else tree
    return tree.expressions[0] if len(tree.expressions) == 1 else None


def _close(text: str, dialect: Dialect) -> tuple[str, int | None]:
    """Return a text that cannot be tokenized with its comments blanked, and where its unclosed statement begins.

    The index is that of the statement with an unclosed string, name or comment; None if blanking (nested) comments was
    enough.
    """
    blanked = list(text)
    start, unclosed = 0, False
    for piece in pieces(text, dialect.name):
        if piece.kind is PieceKind.SEMICOLON:
            start = piece.end
        elif piece.kind in (PieceKind.COMMENT, PieceKind.UNCLOSED):
            unclosed = unclosed or piece.kind is PieceKind.UNCLOSED
            blanked[piece.start : piece.end] = re.sub(r"[^\n]", " ", text[piece.start : piece.end])
    closed = "".join(blanked)
    if not unclosed and _readable(closed, 0, dialect):
        return closed, None
    return closed, start + len(closed[start:]) - len(closed[start:].lstrip())


def _readable(text: str, start: int, dialect: Dialect) -> list[Token]:
    """Return the tokens of a text from an index on; an empty list if it cannot be tokenized."""
    return tokens_of(Fragment(text[start:], tuple(range(start, len(text)))), text, dialect)


def _statements(tokens: list[Token], text: str) -> Iterator[list[Token]]:
    """Yield the tokens between semicolons. Semicolons are searched for in the text, which is faster than by token."""
    first, position = 0, text.find(";")
    while position >= 0:
        at = bisect_left(tokens, position, first, key=_start_of)
        if at < len(tokens) and tokens[at].start == position and tokens[at].token_type is TokenType.SEMICOLON:
            if at > first:
                yield tokens[first:at]
            first = at + 1
        position = text.find(";", position + 1)
    if first < len(tokens):
        yield tokens[first:] if first else tokens
