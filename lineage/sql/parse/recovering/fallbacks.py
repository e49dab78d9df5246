"""Read one statement: strategies in their order, until one of them succeeds."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TypeAlias

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.model.dialect import Dialect
from lineage.sql.budget import Budget
from lineage.sql.parse import parse_errors
from lineage.sql.parse.guard import PARSER_DEFECTS, GuardedParser, NestingError, tools_of
from lineage.sql.parse.parsed import ParsedStatement, ReadFrom, span_between
from lineage.sql.parse.placeholders import is_filled_in
from lineage.sql.parse.recovering.named_by_text import has_names_in_text, name_by_text
from lineage.sql.parse.recovering.no_lineage import is_without_lineage, moves_no_data
from lineage.sql.parse.recovering.recovery import is_worth, query_after_head, recover
from lineage.sql.parse.rewrites import rewrite_tokens
from lineage.sql.parse.rewrites.queries import has_absolute_operators, has_lambda_lists, has_type_phrases
from lineage.sql.plugins import installed_rules
from lineage.sql.procedural import Fragment, tokens_of
from lineage.sql.procedural.text.tokens import parser_of

__all__ = ["Attempt", "read_statement", "read_without_tree"]


class Attempt:
    """A statement on its way through the strategies, with what they have found so far.

    `as_written`: the tokens are one contiguous part of the text; else they are collected from several, or generated.
    """

    __slots__ = ("as_written", "budget", "dialect", "parser", "problem", "span", "text", "tokens", "trees")

    def __init__(
        self,
        tokens: list[Token],
        span: Span,
        text: str,
        dialect: Dialect,
        budget: Budget,
        parser: GuardedParser,
        as_written: bool,
    ) -> None:
        self.tokens = tokens
        self.text = text
        self.dialect = dialect
        self.budget = budget
        self.parser = parser
        self.as_written = as_written
        self.span = span
        self.trees: list[exp.Expr | None] = []
        self.problem: Diagnostic | None = None

    @property
    def command(self) -> exp.Command | None:
        """sqlglot's Command, which is unparsed text; None if it built a tree or raised an error."""
        tree = self.trees[0] if self.trees and self.problem is None else None
        return tree if isinstance(tree, exp.Command) else None

    @property
    def is_refused(self) -> bool:
        """Whether the parser refuses the statement, which is neither too long nor too deep for it."""
        return self.problem is not None and self.problem.code is DiagnosticCode.PARSE_ERROR

    def result(self, read_from: ReadFrom, tree: exp.Expr | None = None) -> list[ParsedStatement]:
        """Return the statement as it was read; with the tree that the parser gave where none is given."""
        tree = tree if tree is not None else self.trees[0] if self.trees and self.problem is None else None
        return [ParsedStatement(tree, self.tokens, self.span, self.problem, self.text, read_from=read_from)]


Strategy: TypeAlias = Callable[[Attempt], "list[ParsedStatement] | None"]
"""Returns the statements (several only where a dialect needs no semicolon), or None to try the next strategy."""


def read_statement(
    tokens: list[Token], text: str, dialect: Dialect, budget: Budget, parser: GuardedParser, *, as_written: bool = True
) -> list[ParsedStatement]:
    """Return the statement that the tokens make, as far as it can be read; see `Attempt` for `as_written`."""
    first, last = tokens[0], tokens[-1]
    if not as_written:
        first, last = min(tokens, key=attrgetter("start")), max(tokens, key=attrgetter("end"))
    span = span_between(first, last)
    return _first_result(STRATEGIES, Attempt(tokens, span, text, dialect, budget, parser, as_written))


def read_without_tree(
    parsed: ParsedStatement, dialect: Dialect, budget: Budget, *, has_rows: bool = False
) -> ParsedStatement:
    """Read a statement that has no tree, or one that no rule reads, without using its tree.

    `has_rows`: it is of a type that reads or writes rows, whatever its words look like.
    """
    _, parser = tools_of(dialect, budget.nesting)
    attempt = Attempt(parsed.tokens, parsed.span, parsed.text, dialect, budget, parser, as_written=False)
    attempt.trees, attempt.problem = [parsed.tree], parsed.problem
    strategies = tuple(one for one in _WITHOUT_TREE if not (has_rows and one is _no_lineage))
    return _first_result(strategies, attempt)[0]


def _first_result(strategies: tuple[Strategy, ...], attempt: Attempt) -> list[ParsedStatement]:
    for strategy in strategies:
        if (found := strategy(attempt)) is not None:
            return found
    raise AssertionError("the last strategy always has a result")


def _parse(attempt: Attempt) -> list[ParsedStatement] | None:
    """Parse the statement as it is."""
    tokens, text, budget = attempt.tokens, attempt.text, attempt.budget
    as_written, span = attempt.as_written, attempt.span
    length = span.end - span.start if as_written else sum(len(token.text) for token in tokens)
    if length > budget.characters:
        message = f"the statement has {length:,} characters, more than {budget.characters:,}"
        attempt.problem = parse_errors.error(DiagnosticCode.STATEMENT_TOO_LARGE, message, span)
        return None
    try:
        trees = attempt.parser.parse_written(tokens, text) if as_written else attempt.parser.parse(tokens, text)
    except ParseError as error:
        attempt.problem = parse_errors.of_parse_error(error, tokens, text, span)
    except NestingError as error:
        attempt.problem = parse_errors.error(DiagnosticCode.NESTING_TOO_DEEP, str(error), span)
    except RecursionError:
        message = "the statement nests deeper than the parser can follow"
        attempt.problem = parse_errors.error(DiagnosticCode.NESTING_TOO_DEEP, message, span)
    except PARSER_DEFECTS as error:
        message = f"the parser cannot build this statement ({type(error).__name__})"
        attempt.problem = parse_errors.error(DiagnosticCode.PARSE_ERROR, message, span)
    else:
        attempt.trees = trees
        if not trees or not (isinstance(trees[0], exp.Command) or _is_misread(attempt) or _is_incomplete(trees[0])):
            return _with_names(attempt, trees)
    return None


def _is_misread(attempt: Attempt) -> bool:
    """Return whether the parser takes a part of the statement for another one."""
    tokens, dialect, span = attempt.tokens, attempt.dialect, attempt.span
    return (
        (dialect.has_column_phrases and has_type_phrases(tokens))
        or (dialect.has_lambda_keyword and has_lambda_lists(tokens))
        or (
            dialect.has_absolute_operator
            and "@" in attempt.text[span.start : span.end]
            and has_absolute_operators(tokens)
        )
    )


def _rewrite(attempt: Attempt) -> list[ParsedStatement] | None:
    """Parse a rewritten form of the statement, if sqlglot fails, returns a Command or an incomplete tree."""
    tokens, text, command = attempt.tokens, attempt.text, attempt.command
    if attempt.problem is not None and not attempt.is_refused:
        return None
    trees: list[exp.Expr | None] = []
    piece: list[Token] = []
    try:
        for piece in rewrite_tokens(tokens, text, parser_of(attempt.dialect), attempt.dialect):
            trees += attempt.parser.parse(piece, text)
    except NestingError as error:
        attempt.problem = parse_errors.error(DiagnosticCode.NESTING_TOO_DEEP, str(error), attempt.span)
        attempt.tokens = error.tokens
        return None
    except ParseError as error:
        if command is not None:  # the rewritten tokens show more of it than the command does
            attempt.problem = parse_errors.of_parse_error(error, piece, text, attempt.span)
            attempt.tokens = piece
        return _incomplete_tree(attempt)
    except (TokenError, RecursionError, *PARSER_DEFECTS):
        return _incomplete_tree(attempt)
    if not trees or any(isinstance(tree, exp.Command) for tree in trees):
        return _incomplete_tree(attempt)
    attempt.trees, attempt.problem = trees, None
    return _with_names(attempt, trees)


def _tokenize_rest(attempt: Attempt) -> list[ParsedStatement] | None:
    """Tokenize what the tokenizer returned as one string, the rest of a statement after some keywords. Never succeeds.

    Where quotes do not pair, drop the rest: from there on names and literals cannot be distinguished.
    """
    tokens, text = attempt.tokens, attempt.text
    if len(tokens) == 2 and tokens[1].token_type is TokenType.STRING:
        start, end = tokens[0].start, tokens[-1].end + 1
        attempt.tokens = tokens_of(Fragment(text[start:end], tuple(range(start, end))), text, attempt.dialect) or tokens
    if attempt.problem is not None and (end_at := parse_errors.mispaired_quotes_at(attempt.tokens)) is not None:
        attempt.tokens = [token for token in attempt.tokens if token.start < end_at]
    return None


def _installed_rule(attempt: Attempt) -> list[ParsedStatement] | None:
    """Hand over to an installed package that knows the statement by its keyword."""
    keyword = attempt.tokens[0].text.upper() if attempt.tokens else ""
    return attempt.result(ReadFrom.INSTALLED_RULE) if keyword in installed_rules().commands else None


def _no_lineage(attempt: Attempt) -> list[ParsedStatement] | None:
    """Recognise a statement that reads and writes no rows."""
    tree = attempt.trees[0] if attempt.trees and attempt.problem is None else None
    is_known = (tree is not None and is_without_lineage(tree)) or moves_no_data(attempt.tokens)
    return attempt.result(ReadFrom.NO_LINEAGE) if is_known else None


def _query_behind_head(attempt: Attempt) -> list[ParsedStatement] | None:
    """Parse the query behind a head that is not known: `CREATE SOMETHING x AS SELECT …`."""
    command = attempt.command
    query = query_after_head(attempt.tokens) if command is not None else []
    if command is None or not query:
        return None
    name = str(command.this).upper()
    message = f"no rule reads {name} statements; the query in it is read"
    problem = Diagnostic(DiagnosticCode.UNSUPPORTED_STATEMENT, Severity.WARNING, message, attempt.span)
    found: list[exp.Expr | None] = []
    try:
        found = attempt.parser.parse(query, attempt.text)
    except ParseError as error:
        problem = parse_errors.of_parse_error(error, attempt.tokens, attempt.text, attempt.span)
    except NestingError as error:
        problem = parse_errors.error(DiagnosticCode.NESTING_TOO_DEEP, str(error), attempt.span)
    except (RecursionError, *PARSER_DEFECTS):
        pass
    tree = found[0] if found and is_worth(found[0]) else _parts_of(attempt, query)
    if tree is None and problem.severity is Severity.WARNING:
        return None
    attempt.problem = problem
    return attempt.result(ReadFrom.TREE if tree is not None else ReadFrom.KEYWORDS, tree)


def _recover(attempt: Attempt) -> list[ParsedStatement] | None:
    """Parse the largest parts of the statement that parse."""
    tree = _parts_of(attempt, attempt.tokens) if attempt.is_refused else None
    return attempt.result(ReadFrom.TREE, tree) if tree is not None else None


def _not_sql(attempt: Attempt) -> list[ParsedStatement] | None:
    """Report NOT_SQL if the text is only an expression: any single word parses as one."""
    tree = attempt.trees[0] if attempt.trees and attempt.problem is None else None
    if tree is None or isinstance(tree, exp.Command | exp.Query | exp.DDL | exp.DML):
        return None
    if isinstance(tree, exp.Literal) and is_filled_in(str(tree.this)):
        message = "the whole statement comes from a template that is not expanded: what it reads is not known"
        code, hint = (
            DiagnosticCode.UNSUPPORTED_SYNTAX,
            "compile the templates (`dbt compile`), and read the compiled SQL",
        )
        attempt.problem = Diagnostic(code, Severity.WARNING, message, attempt.span, hint)
        return attempt.result(ReadFrom.NOT_SQL, tree)
    message = f"this is not a statement: it reads as a bare {type(tree).__name__.lower()}"
    attempt.problem = parse_errors.error(DiagnosticCode.NOT_SQL, message, attempt.span)
    return attempt.result(ReadFrom.NOT_SQL, tree)


def _keywords(attempt: Attempt) -> list[ParsedStatement]:
    """Hand over to the tracing of keywords, which finds the tables."""
    tree = attempt.trees[0] if attempt.trees and attempt.problem is None else None
    if attempt.problem is None:
        name = str(tree.this).upper() if isinstance(tree, exp.Command) else type(tree).__name__.upper()
        message = f"no rule reads this {name} statement; its tables are taken from its keywords"
        code = DiagnosticCode.UNSUPPORTED_STATEMENT
        attempt.problem = Diagnostic(code, Severity.WARNING, message, attempt.span)
    return attempt.result(ReadFrom.KEYWORDS, tree)


_WITHOUT_TREE: tuple[Strategy, ...] = (_installed_rule, _no_lineage, _query_behind_head, _recover, _not_sql, _keywords)
STRATEGIES: tuple[Strategy, ...] = (_parse, _rewrite, _tokenize_rest, *_WITHOUT_TREE)
"""The order in which a statement is read."""


def _with_names(attempt: Attempt, trees: list[exp.Expr | None]) -> list[ParsedStatement]:
    """Return the statements that were read, with strings that name tables replaced by those names."""
    tokens, text, span = attempt.tokens, attempt.text, attempt.span
    for tree in trees:
        if type(tree) is exp.Create:
            _share_global_view(tree)
    written = text[span.start : span.end] if attempt.as_written else None
    if not has_names_in_text(tokens, attempt.dialect, written):
        return [ParsedStatement(tree, tokens, span, text=text) for tree in trees if tree is not None]
    found = []
    for tree in trees:
        if tree is not None:
            named, is_unknown = name_by_text(tree)
            message = "a name is made when the statement runs: what it names is not known"
            problem = Diagnostic(DiagnosticCode.DYNAMIC_SQL, Severity.WARNING, message, span) if is_unknown else None
            found.append(ParsedStatement(named, tokens, span, problem, text))
    return found


def _share_global_view(create: exp.Create) -> None:
    """Put Spark's GLOBAL TEMPORARY VIEW into `global_temp`, where the sessions of an application share it."""
    properties = create.args.get("properties")
    if properties is None or create.args.get("kind") != "VIEW" or not properties.find(exp.GlobalProperty):
        return
    table = create.this.this if isinstance(create.this, exp.Schema) else create.this
    table.set("db", exp.to_identifier("global_temp"))
    shared = (exp.GlobalProperty, exp.TemporaryProperty)
    properties.set("expressions", [item for item in properties.expressions if not isinstance(item, shared)])


def _is_incomplete(tree: exp.Expr | None) -> bool:
    """Return whether the parser's tree lacks a part of what the statement says.

    The tree of `ALTER VIEW v AS query` lacks the columns' names; the tree of ClickHouse's `FROM INFILE 'f'` has a table
    INFILE.
    """
    if type(tree) is exp.LockingStatement:
        return True
    if type(tree) is exp.Insert:
        query = tree.args.get("expression")
        origin = query.args.get("from_") if isinstance(query, exp.Select) else None
        table = origin.this.this if isinstance(origin, exp.From) and isinstance(origin.this, exp.Table) else None
        return isinstance(table, exp.Identifier) and not table.quoted and table.this.upper() == "INFILE"
    if type(tree) is not exp.Alter or tree.args.get("kind") != "VIEW":
        return False
    return any(isinstance(action, exp.Query) for action in tree.args.get("actions") or ())


def _incomplete_tree(attempt: Attempt) -> list[ParsedStatement] | None:
    """Return the parser's incomplete tree, where there is no better one."""
    is_tree = attempt.problem is None and attempt.command is None
    return _with_names(attempt, attempt.trees) if is_tree else None


def _parts_of(attempt: Attempt, tokens: list[Token]) -> exp.Expr | None:
    """Return the tree of the largest parts that parse; None where there are none worth reading."""

    def parse(candidate: list[Token]) -> exp.Expr | int:
        try:
            trees = attempt.parser.parse(candidate, attempt.text)
        except ParseError as error:
            at = parse_errors.token_of(error, candidate)
            return at if at is not None else len(candidate) - 1
        except (NestingError, RecursionError, *PARSER_DEFECTS):
            return 0
        found = trees[0] if trees else None
        return found if found is not None and not isinstance(found, exp.Command) else 0

    return recover(tokens, parse)
