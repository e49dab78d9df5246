"""Arguments of SQL in strings: what EXECUTE … USING and sp_executesql put in place of its parameters.

https://www.postgresql.org/docs/current/plpgsql-statements.html#PLPGSQL-STATEMENTS-EXECUTING-DYN
https://cloud.google.com/bigquery/docs/reference/standard-sql/procedural-language#execute_immediate
https://learn.microsoft.com/en-us/sql/relational-databases/system-stored-procedures/sp-executesql-transact-sql
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from sqlglot.tokenizer_core import Token, TokenType

from lineage.frozen import frozen
from lineage.sql.procedural.dynamic import operands_of
from lineage.sql.procedural.text.tokens import STRINGS, make_token, word_of

__all__ = [
    "COMMA",
    "NO_ARGUMENTS",
    "NO_TOKENS",
    "Arguments",
    "arguments_of",
    "fill",
    "output_positions",
    "with_arguments",
]

COMMA = frozenset((TokenType.COMMA,))
NO_TOKENS: Sequence[Token] = ()
_MODES = frozenset(("IN", "OUT", "INOUT", "OUTPUT"))
_MARKS = frozenset((TokenType.PARAMETER, TokenType.COLON))
_BEFORE_A_PATH = frozenset((TokenType.VAR, TokenType.IDENTIFIER, TokenType.R_PAREN, TokenType.R_BRACKET))
_DECLARED = re.compile(r"@(\w+)")


@frozen
class Arguments:
    """The arguments of a run: by position, and by name."""

    listed: list[Sequence[Token]] = field(default_factory=list)
    named: dict[str, Sequence[Token]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.listed or self.named)


NO_ARGUMENTS = Arguments()


def arguments_of(tokens: Sequence[Token]) -> Arguments:
    """Return the arguments of an EXECUTE statement."""
    words = [word_of(token) for token in tokens]
    arguments = Arguments()
    if "SP_EXECUTESQL" in words:
        _of_procedure(tokens[words.index("SP_EXECUTESQL") + 1 :], arguments)
        return arguments
    if "USING" not in words:
        return arguments
    given = tokens[words.index("USING") + 1 :]
    if len(given) > 2 and word_of(given[0]) == "(" and word_of(given[-1]) == ")":
        given = given[1:-1]
    for written in operands_of(given, COMMA):
        argument = _without_mode(written)
        if len(argument) > 2 and word_of(argument[-2]) == "AS":
            arguments.named[argument[-1].text.lower()] = argument[:-2]
            arguments.listed.append(argument[:-2])
        else:
            arguments.listed.append(argument)
    return arguments


def _of_procedure(tokens: Sequence[Token], found: Arguments) -> None:
    """Read `@sql, N'@p int, @q int', @p = x, y`."""
    listed = operands_of(tokens, COMMA)
    types = listed[1] if len(listed) > 1 else ()
    declared = _DECLARED.findall(types[-1].text) if types and types[-1].token_type in STRINGS else []
    for position, written in enumerate(listed[2:]):
        argument = _without_mode(written)
        if len(argument) > 3 and word_of(argument[0]) == "@" and word_of(argument[2]) == "=":
            found.named[argument[1].text.lower()] = argument[3:]
        elif position < len(declared):
            found.named[declared[position].lower()] = argument


def _without_mode(argument: Sequence[Token]) -> Sequence[Token]:
    while argument and word_of(argument[0]) in _MODES:
        argument = argument[1:]
    return argument[:-1] if argument and word_of(argument[-1]) in _MODES else argument


def output_positions(header: Sequence[Token]) -> list[int]:
    """Return the positions of a procedure's OUT and INOUT parameters, given its header."""
    opened = next((at for at, token in enumerate(header) if word_of(token) == "("), len(header))
    listed = operands_of(header[opened + 1 :], COMMA)
    return [at for at, one in enumerate(listed) if any(word_of(token) in ("OUT", "INOUT") for token in one[:4])]


def fill(tokens: list[Token], arguments: Arguments) -> list[Token]:
    """Return the tokens of SQL with its parameters replaced, where an argument may have lineage.

    The tokens of an argument get the position of the parameter.
    """
    filled: list[Token] = []
    position = seen = 0
    while position < len(tokens):
        token = tokens[position]
        size, argument = 1, None
        if token.token_type is TokenType.PLACEHOLDER:
            argument = arguments.listed[seen] if seen < len(arguments.listed) else None
            seen += 1
        elif token.token_type in _MARKS and position + 1 < len(tokens):
            size, name = 2, tokens[position + 1]
            is_path = token.token_type is TokenType.COLON and position and filled[-1].token_type in _BEFORE_A_PATH
            if is_path and name.token_type is not TokenType.NUMBER:
                size = 1
            elif name.text.lower() in arguments.named:
                argument = arguments.named[name.text.lower()]
            elif token.text == "$" and name.text.isdigit():
                at = int(name.text) - 1
                argument = arguments.listed[at] if at < len(arguments.listed) else None
            elif token.token_type is TokenType.COLON:  # Oracle's parameters are numbered by their places
                argument = arguments.listed[seen] if seen < len(arguments.listed) else None
                seen += 1
            else:
                size = 1
        if argument is None or all(part.token_type in STRINGS | {TokenType.NUMBER} for part in argument):
            filled += tokens[position : position + size]
        else:
            filled += _placed(argument, token)
        position += size
    return filled


def with_arguments(
    tokens: Sequence[Token], given: Mapping[str, Sequence[Token]], fold: Callable[[str], str]
) -> list[Token]:
    """Return the tokens of a cursor's query with its parameters, bare words, replaced; by NULL without an argument."""
    filled: list[Token] = []
    for position, token in enumerate(tokens):
        is_part = "." in (tokens[position - 1].text if position else "", *(t.text for t in tokens[position + 1 :][:1]))
        argument = given.get(fold(token.text)) if token.token_type is TokenType.VAR and not is_part else None
        if argument is None:
            filled.append(token)
        else:
            filled += _placed(argument, token) if argument else [make_token(TokenType.NULL, "NULL", token)]
    return filled


def _placed(argument: Sequence[Token], at: Token) -> list[Token]:
    copies = [make_token(part.token_type, part.text, at) for part in argument]
    if len(copies) <= 2:  # a name, or one behind `@` or `:`
        return copies
    return [make_token(TokenType.L_PAREN, "(", at), *copies, make_token(TokenType.R_PAREN, ")", at)]
