"""The result of reading procedural text: plain statements in order, each with its control-flow context."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from sqlglot.tokenizer_core import Token

from lineage.frozen import frozen

__all__ = ["Block", "BlockKind", "Declaration", "FunctionBody", "ProgramPiece", "ProgramStep"]


class BlockKind(Enum):
    """How often the statements in a block run."""

    ROUTINE = "routine"
    """A routine body: once, with local variables."""
    BRANCH = "branch"
    """At most once: a branch of IF or CASE, an exception handler."""
    LOOP = "loop"
    """Any number of times: an assignment also reaches earlier statements of the block."""


@frozen
class Block:
    """A block of control flow, by its kind and its number in the text."""

    kind: BlockKind
    number: int


@frozen
class FunctionBody:
    """A function's result: one expression or query over its parameters, as tokens.

    `columns` are the declared columns of a table function, or its OUT parameters; `parameters` are those that calls
    give, the last one an array of all further arguments if it `is_variadic`. `schema` is the one in its name, if any;
    functions of one name that differ in `arguments` (their declared parameters, as text) are overloads. `search_path`
    are the schemas in which the body's tables are looked up, if the function sets them itself. `returns_rows`: a call
    may return several. `row_type` is the name of the type that it returns, whose attributes may be its columns.
    """

    name: str
    parameters: tuple[str, ...]
    tokens: tuple[Token, ...]
    columns: tuple[Token, ...] = ()
    schema: str = ""
    arguments: str = ""
    search_path: tuple[str, ...] = ()
    returns_rows: bool = False
    is_variadic: bool = False
    row_type: Token | None = None


class Declaration(NamedTuple):
    """A name that is a variable in these blocks and those inside them."""

    name: str
    blocks: tuple[Block, ...]


@frozen
class ProgramStep:
    """The procedural context of a statement.

    `operation` is empty for a plain statement. `assigns` are the variables (folded; T-SQL's and MySQL's with their `@`)
    to which the query's columns are assigned in order; a single one gets the whole row. `declares` are names that are
    variables from here on. `blocks` are the enclosing blocks, outermost first. `dynamic`: the SQL is built at run time
    and only partly known. `shows_columns`: in the innermost block, the columns of the row are also read without its
    name. `function` is the body of the function whose header this is.
    """

    operation: str = ""
    assigns: tuple[str, ...] = ()
    declares: tuple[Declaration, ...] = ()
    blocks: tuple[Block, ...] = ()
    is_row: bool = False
    shows_columns: bool = False
    dynamic: bool = False
    function: FunctionBody | None = None


@dataclass(slots=True)
class ProgramPiece:
    """The tokens of one statement; `step` is None for a statement outside procedural text."""

    tokens: list[Token]
    step: ProgramStep | None = None
    has_sql: bool = True
    """Whether the tokens are complete SQL, not a routine's header or partly known SQL."""
    unreadable: bool = False
    """Whether it is SQL in a string that cannot be tokenized, because a string or name in it is not closed."""
