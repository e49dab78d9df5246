"""SQL text into statements: tokens once for the whole text, then each statement parsed on its own.

A statement that cannot be parsed does not take the others with it, and every position is one in the whole text.
"""

from __future__ import annotations

import logging
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import attrgetter

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.model.dialects import Dialect, dialect_named
from lineage.sql.budget import Budget
from lineage.sql.parse.guard import PARSER_DEFECTS, GuardedParser, NestingError, parser_named, tools_of
from lineage.sql.parse.named_by_text import has_names_in_text, name_by_text
from lineage.sql.parse.placeholders import fill_placeholders
from lineage.sql.parse.quotes import dialect_of_quotes
from lineage.sql.parse.recovery import behind_head, is_worth, recovered
from lineage.sql.parse.rewrites import rewrite_tokens
from lineage.sql.procedural import (
    Fragment,
    ProgramStep,
    is_procedural,
    read_program,
    tokenize,
    tokens_of,
    with_semicolons,
)
from lineage.sql.scan.leading import LEADING
from lineage.sql.scan.pieces import PieceKind, pieces

__all__ = ["ParsedStatement", "parse_statements", "parse_tokens"]

_DEFAULT = Budget()

# MySQL's and SQLite's REPLACE INTO is an INSERT for lineage; the parser keeps it as a command. The lengths agree.
_REPLACE_INTO = re.compile(rf"((?:\A|;){LEADING})replace(?=\s+into\b)", re.IGNORECASE)
_start_of = attrgetter("start")
_PSQL_COMMAND = re.compile(r"^[ \t]*\\.*$", re.MULTILINE)


@dataclass(slots=True, eq=False)
class ParsedStatement:
    """A statement's syntax tree, or why there is none; its tokens and its place in the whole text.

    With a tree and a problem, the tree is what could be read of a statement that does not parse as a whole.
    `step` is what it is besides its SQL, where it stands in procedural text.
    """

    tree: exp.Expr | None
    tokens: list[Token]
    span: Span
    problem: Diagnostic | None = None
    text: str = ""
    step: ProgramStep | None = None
    read_as: str | None = None
    """The dialect that the text was read as, where none was given and its quotes are no standard ones."""

    def variable_places(self) -> dict[str, Span]:
        """Return where each `@name` stands first: the parser keeps no places of variables."""
        places: dict[str, Span] = {}
        for mark, name in pairwise(self.tokens):
            if mark.token_type is TokenType.PARAMETER:
                span = Span(mark.start, name.end + 1, mark.line, max(1, mark.col - (mark.end - mark.start)))
                places.setdefault(name.text.lower(), span)
        return places


class _NoSqlError(Exception):
    """A statement said in other words does not parse: why, and the words."""

    def __init__(self, why: ParseError, tokens: list[Token]) -> None:
        super().__init__(str(why))
        self.why = why
        self.tokens = tokens


def parse_statements(text: str, dialect: Dialect, budget: Budget = _DEFAULT) -> Iterator[ParsedStatement]:
    """Yield the statements of a text in order; empty ones are left out, those beyond the budget are not parsed."""
    guessed = dialect_of_quotes(text) if dialect.name == "ansi" else None
    if guessed is None:
        yield from _statements_of(text, dialect, budget)
        return
    for parsed in _statements_of(text, dialect_named(guessed), budget):
        parsed.read_as = guessed
        yield parsed


def _statements_of(text: str, dialect: Dialect, budget: Budget) -> Iterator[ParsedStatement]:
    tokenizer, parser = tools_of(dialect, budget.nesting)
    text = fill_placeholders(text, dialect)
    if dialect.has_backslash_commands and "\\" in text:
        text = _PSQL_COMMAND.sub(lambda match: " " * len(match.group()), text)
    if dialect.replace_is_insert:
        text = _REPLACE_INTO.sub(r"\1INSERT ", text)
        text = with_semicolons(text, dialect.name)
    tail: ParsedStatement | None = None
    batches = dialect.needs_no_semicolon
    try:
        tokens = tokenize(text, dialect) if batches else tokenizer.tokenize(text)
    except TokenError:
        text, start = _closed(text, dialect)
        if start is not None:
            # What is never closed swallows the rest of the text: it is read up to there, by its keywords.
            span = Span.locate(text, start, len(text))
            problem = _problem(DiagnosticCode.TRUNCATED_TEXT, "something in this statement is never closed", span)
            tail = ParsedStatement(None, _readable(text, start, dialect), span, problem, text)
        tokens = _readable(text[:start], 0, dialect)
    statements = list(_statements(tokens, text))
    if batches:
        yield from _program(parser, tokens, text, dialect, budget)
    elif any(is_procedural(piece, dialect) for piece in statements):
        ends = statements[-1][-1].end + 1
        yield from _program(parser, tokenize(text[:ends], dialect), text, dialect, budget)
    else:
        for piece in statements:
            yield from _parsed(parser, piece, text, dialect, budget)
    if tail is not None:
        yield tail


def _program(
    parser: GuardedParser, tokens: list[Token], text: str, dialect: Dialect, budget: Budget
) -> Iterator[ParsedStatement]:
    """Yield the statements of procedural text: those of its bodies too, each with what the control flow says of it."""
    try:
        pieces = list(read_program(tokens, text, dialect))
    except Exception as error:  # noqa: BLE001  a defect of ours costs the control flow, not the statements in it
        message = f"a defect in the reading of programs: {type(error).__name__}"
        problem = _problem(DiagnosticCode.INTERNAL_ERROR, message, _span(tokens[0], tokens[-1]))
        yield ParsedStatement(None, tokens, problem.span or _span(tokens[0], tokens[-1]), problem, text)
        for statement in _statements(tokens, text):
            yield from _parsed(parser, statement, text, dialect, budget)
        return
    for piece in pieces:
        if piece.step is None:
            yield from _parsed(parser, piece.tokens, text, dialect, budget, as_written=False)
            continue
        first = min(piece.tokens, key=attrgetter("start"))  # a step's tokens may be gathered from several places
        span = _span(first, max(piece.tokens, key=attrgetter("end")))
        if piece.unreadable:
            problem = _problem(DiagnosticCode.PARSE_ERROR, "something in the SQL of this string is never closed", span)
            yield ParsedStatement(None, [], span, problem, text, piece.step)
        elif not piece.has_sql:
            yield ParsedStatement(None, piece.tokens, span, text=text, step=piece.step)
        else:
            for parsed in _parsed(parser, piece.tokens, text, dialect, budget, as_written=False):
                yield replace(parsed, span=span, step=piece.step)


def _span(first: Token, last: Token) -> Span:
    return Span(first.start, last.end + 1, first.line, max(1, first.col - (first.end - first.start)))


def parse_tokens(tokens: list[Token], text: str, dialect: Dialect, budget: Budget) -> exp.Expr | None:
    """Return the tree of a query, or of an expression; None if they are neither, or beyond the budget."""
    if not tokens:
        return None
    is_query = tokens[0].token_type in (TokenType.SELECT, TokenType.WITH) or (
        tokens[0].token_type is TokenType.L_PAREN
        and len(tokens) > 1
        and tokens[1].token_type in (TokenType.SELECT, TokenType.WITH)
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


def _closed(text: str, dialect: Dialect) -> tuple[str, int | None]:
    """Return a text that cannot be tokenized with its comments blanked, which nest where the dialect lets them.

    Also return where the statement begins in which something is never closed; None where the comments were it.
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
    """Return the tokens of a text from a place on; none if it cannot be tokenized."""
    return tokens_of(Fragment(text[start:], tuple(range(start, len(text)))), text, dialect)


def _statements(tokens: list[Token], text: str) -> Iterator[list[Token]]:
    """Yield the tokens between the semicolons. Those are found in the text: few of the tokens are looked at."""
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


def _parsed(
    parser: GuardedParser, tokens: list[Token], text: str, dialect: Dialect, budget: Budget, *, as_written: bool = True
) -> Iterator[ParsedStatement]:
    """Yield the statement that the tokens make; several, where a dialect needs no semicolon between them.

    `as_written` says that they are those of the text from the first one's place to the last one's.
    """
    span = _span(tokens[0], tokens[-1])
    if not as_written:  # put together of several texts, in any order
        span = _span(min(tokens, key=attrgetter("start")), max(tokens, key=attrgetter("end")))
    problem: Diagnostic | None = None
    trees: list[exp.Expr | None] = []
    length = span.end - span.start if as_written else sum(len(token.text) for token in tokens)
    if length > budget.characters:
        message = f"the statement has {length:,} characters, more than {budget.characters:,}"
        problem = _problem(DiagnosticCode.STATEMENT_TOO_LARGE, message, span)
    else:
        try:
            trees = parser.parse_written(tokens, text) if as_written else parser.parse(tokens, text)
        except ParseError as error:
            problem = _parse_problem(error, tokens, text, span)
        except NestingError as error:
            problem = _problem(DiagnosticCode.NESTING_TOO_DEEP, str(error), span)
        except RecursionError:
            message = "the statement nests deeper than the parser can follow"
            problem = _problem(DiagnosticCode.NESTING_TOO_DEEP, message, span)
        except PARSER_DEFECTS as error:
            message = f"the parser cannot build this statement ({type(error).__name__})"
            problem = _problem(DiagnosticCode.PARSE_ERROR, message, span)
    is_command = bool(trees) and isinstance(trees[0], exp.Command)
    is_refused = problem is not None and problem.code is DiagnosticCode.PARSE_ERROR
    if is_command or is_refused or (trees and _is_misread(trees[0])):
        try:
            if said := _rewritten(parser, tokens, text, dialect):
                trees, problem, is_command = said, None, False
        except NestingError as error:
            problem, tokens = _problem(DiagnosticCode.NESTING_TOO_DEEP, str(error), span), error.tokens
        except _NoSqlError as error:
            if is_command:  # the words of ours show more of it than its own
                problem, tokens = _parse_problem(error.why, error.tokens, text, span), error.tokens
    if problem is not None:
        tokens = _spelled_out(tokens, text, dialect)
        if (torn := _torn_at(tokens)) is not None:  # nobody can tell names from literals there
            tokens = [token for token in tokens if token.start < torn]
        tree = _recovered(parser, tokens, text) if problem.code is DiagnosticCode.PARSE_ERROR else None
        yield ParsedStatement(tree, tokens, span, problem, text)
    elif is_command and trees[0] is not None:
        yield _of_command(parser, trees[0], _spelled_out(tokens, text, dialect), span, text)
    else:
        written = text[span.start : span.end] if as_written else None
        in_text = has_names_in_text(tokens, dialect, written)
        yield from _complete(trees, tokens, span, text, in_text)


def _complete(
    trees: list[exp.Expr | None], tokens: list[Token], span: Span, text: str, in_text: bool
) -> Iterator[ParsedStatement]:
    """Yield the statements that were read, with names for what strings name."""
    for tree in trees:
        if tree is not None:
            named, problem = _named(tree, span) if in_text else (tree, None)
            yield ParsedStatement(named, tokens, span, problem, text)


def _named(tree: exp.Expr, span: Span) -> tuple[exp.Expr, Diagnostic | None]:
    """Return a tree with names for what strings name, and what is to be said of names that are not in the text."""
    tree, is_unknown = name_by_text(tree)
    message = "a name is made when the statement runs: what it names is not known"
    return tree, Diagnostic(DiagnosticCode.DYNAMIC_SQL, Severity.WARNING, message, span) if is_unknown else None


def _is_misread(tree: exp.Expr | None) -> bool:
    """Return whether the parser reads a statement without what it says.

    Of `ALTER VIEW v AS query` the tree lacks the columns' names, and ClickHouse's `FROM INFILE 'f'` is a table in it.
    """
    if type(tree) is exp.Insert:
        query = tree.args.get("expression")
        origin = query.args.get("from_") if isinstance(query, exp.Select) else None
        table = origin.this.this if isinstance(origin, exp.From) and isinstance(origin.this, exp.Table) else None
        return isinstance(table, exp.Identifier) and not table.quoted and table.this.upper() == "INFILE"
    if type(tree) is not exp.Alter or tree.args.get("kind") != "VIEW":
        return False
    return any(isinstance(action, exp.Query) for action in tree.args.get("actions") or ())


def _rewritten(parser: GuardedParser, tokens: list[Token], text: str, dialect: Dialect) -> list[exp.Expr | None]:
    """Return the trees of a statement said in other words; none where that is not known or does not parse either.

    Raises:
        NestingError: what is said nests too deep.
        _NoSqlError: what is said does not parse.
    """
    trees: list[exp.Expr | None] = []
    piece: list[Token] = []
    try:
        for piece in rewrite_tokens(tokens, text, parser_named(dialect), dialect):
            trees += parser.parse(piece, text)
    except ParseError as error:
        raise _NoSqlError(error, piece) from error
    except (TokenError, RecursionError, *PARSER_DEFECTS):
        return []
    return [] if any(isinstance(tree, exp.Command) for tree in trees) else trees


def _spelled_out(tokens: list[Token], text: str, dialect: Dialect) -> list[Token]:
    """Return all tokens of a statement: the tokenizer keeps what follows some keywords as one, the text as it is."""
    if len(tokens) != 2 or tokens[1].token_type is not TokenType.STRING:
        return tokens
    start, end = tokens[0].start, tokens[-1].end + 1
    return tokens_of(Fragment(text[start:end], tuple(range(start, end))), text, dialect) or tokens


def _of_command(
    parser: GuardedParser, command: exp.Expr, tokens: list[Token], span: Span, text: str
) -> ParsedStatement:
    """Return a statement that the parser keeps as text: with the query behind its head, if it has one."""
    query = behind_head(tokens)
    if not query:
        return ParsedStatement(command, tokens, span, text=text)
    name = str(command.this).upper()
    message = f"no rule reads {name} statements; the query in it is read"
    problem = Diagnostic(DiagnosticCode.UNSUPPORTED_STATEMENT, Severity.WARNING, message, span)
    try:
        found = parser.parse(query, text)
    except ParseError as error:
        found, problem = [], _parse_problem(error, tokens, text, span)
    except NestingError as error:
        found, problem = [], _problem(DiagnosticCode.NESTING_TOO_DEEP, str(error), span)
    except (RecursionError, *PARSER_DEFECTS):
        found = []
    tree = found[0] if found and is_worth(found[0]) else _recovered(parser, query, text)
    if tree is None and problem.severity is Severity.WARNING:
        return ParsedStatement(command, tokens, span, text=text)
    return ParsedStatement(tree, tokens, span, problem, text)


def _recovered(parser: GuardedParser, tokens: list[Token], text: str) -> exp.Expr | None:
    """Return the tree of what can be read of a statement that does not parse."""

    def attempt(candidate: list[Token]) -> exp.Expr | int:
        try:
            trees = parser.parse(candidate, text)
        except ParseError as error:
            details = error.errors[0] if error.errors else {}
            place = details.get("line"), details.get("col")
            return next((i for i, t in enumerate(candidate) if (t.line, t.col) == place), len(candidate) - 1)
        except (NestingError, RecursionError, *PARSER_DEFECTS):
            return 0
        found = trees[0] if trees else None
        return found if found is not None and not isinstance(found, exp.Command) else 0

    return recovered(tokens, attempt)


def _problem(code: DiagnosticCode, message: str, span: Span) -> Diagnostic:
    return Diagnostic(code, Severity.ERROR, message, span)


def _plain(message: str) -> str:
    """Return sqlglot's message without what it quotes of the SQL, which may be a literal, and without class names."""
    message = re.sub(r" for <class '[\w.]*?(\w+)'>", r" in \1", message)
    if re.fullmatch(r"Required keyword: '\w+' missing in \w+", message):
        return message
    head = _QUOTES_SQL.split(message, maxsplit=1)[0].rstrip(" ,.")
    return head or "this is not SQL of the dialect"


_QUOTES_SQL = re.compile(r"['\"`<:]| but got |, got |(?<=schema constraint) |(?<=Cannot convert) ")
_LITERAL_TOKENS = frozenset(
    kind
    for kind in TokenType
    if kind is TokenType.NUMBER or kind.name.endswith("STRING") or kind.name in ("HEREDOC_STRING", "BYTE_STRING")
)


def _torn_at(tokens: list[Token]) -> int | None:
    """Return where a word or number stands directly behind a string: the quotes do not pair, text is a literal's."""
    for string, token in pairwise(tokens):
        if (
            string.token_type in _LITERAL_TOKENS
            and string.token_type is not TokenType.NUMBER
            and token.start == string.end + 1
            and (token.token_type in (TokenType.VAR, TokenType.NUMBER) or token.text[:1].isdigit())
        ):
            return token.start
    return None


def _parse_problem(error: ParseError, tokens: list[Token], text: str, span: Span) -> Diagnostic:
    details = error.errors[0] if error.errors else {}
    message = _plain(str(details.get("description") or ""))
    torn = _torn_at(tokens)
    line, col = details.get("line"), details.get("col")
    for token in tokens:
        if token.line == line and token.col == col:
            start = token.start
            place = Span(start, token.end + 1, token.line, max(1, token.col - (token.end - token.start)))
            literal = token.token_type in _LITERAL_TOKENS or (torn is not None and start >= torn)
            found = "a literal" if literal else f"`{text[start : token.end + 1]}`"
            return _problem(DiagnosticCode.PARSE_ERROR, f"{message}, found {found}", place)
    return _problem(DiagnosticCode.PARSE_ERROR, message, span)


class _NoSqlInLogs(logging.Filter):
    """sqlglot's warnings quote the SQL. It may hold personal data, and what they say we report ourselves."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.ERROR


_LOGGER = logging.getLogger("sqlglot")
if not any(isinstance(known, _NoSqlInLogs) for known in _LOGGER.filters):
    _LOGGER.addFilter(_NoSqlInLogs())
