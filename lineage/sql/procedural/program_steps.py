"""What procedural text becomes: plain statements in order, each with what the control flow says of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sqlglot.tokenizer_core import Token

__all__ = ["Block", "BlockKind", "FunctionBody", "ProgramPiece", "ProgramStep"]


class BlockKind(Enum):
    """How often what stands in a block runs."""

    ROUTINE = "routine"
    """A body: its variables are its own."""
    BRANCH = "branch"
    """At most once: an arm of IF or CASE, an exception handler."""
    LOOP = "loop"
    """Any number of times: an assignment reaches what stands before it."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of control flow, by its kind and its number in the text."""

    kind: BlockKind
    number: int


@dataclass(frozen=True, slots=True)
class FunctionBody:
    """What a function gives back: one expression or query over its parameters, as tokens.

    `columns` are those that it declares to give as a table.
    """

    name: str
    parameters: tuple[str, ...]
    tokens: tuple[Token, ...]
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProgramStep:
    """What a piece of procedural text is besides its SQL.

    `operation` is empty for a plain statement. `assigns` are variables (folded; T-SQL's and MySQL's with their `@`)
    that take the columns of the query in order; one alone takes the whole row. `declares` are names that are
    variables from here on. `blocks` are those that it stands in, the outermost first. `dynamic` says that the SQL
    was built when it ran and is known in part. `function` is what the header of a function stands over.
    """

    operation: str = ""
    assigns: tuple[str, ...] = ()
    declares: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    is_row: bool = False
    dynamic: bool = False
    function: FunctionBody | None = None


@dataclass(slots=True)
class ProgramPiece:
    """The tokens of one statement; `step` is None where no procedural text is around it."""

    tokens: list[Token]
    step: ProgramStep | None = None
    has_sql: bool = True
    """Whether the tokens are SQL, not the header of a routine or SQL that is known in part."""
    unreadable: bool = False
    """Whether it stands for the SQL in a string that has no tokens, since something in it is never closed."""
