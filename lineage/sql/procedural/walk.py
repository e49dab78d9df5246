"""The walk over a program's tokens, from statement to statement, with a stack of open blocks.

A construct is read by the rule registered for its first word with `@head`; the rules are in `control`, `declarations`,
`assignments` and `bodies`. A rule takes the walk and the position of its word, and returns the position after what it
read, or None if the word has another meaning here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from sqlglot.tokenizer_core import Token, TokenType

from lineage.model.dialect import Dialect
from lineage.sql.procedural.dynamic import Constants
from lineage.sql.procedural.parameters import NO_ARGUMENTS, Arguments, fill
from lineage.sql.procedural.program_steps import Block, BlockKind, Declaration, ProgramPiece, ProgramStep
from lineage.sql.procedural.text.statement_ends import statement_end
from lineage.sql.procedural.text.tokens import Fragment, is_readable, make_token, start_token, tokens_of, word_of
from lineage.sql.procedural.variables import Names

__all__ = ["RULES", "Frame", "Reader", "Rule", "Walk", "head"]


_MAX_STRINGS = 20
"""Maximum nesting of SQL in a string of SQL in a string, more than people write."""

_MAX_BLOCKS = 200
"""Maximum nesting of blocks. Deeper statements belong to the last block, so that no step has thousands of blocks."""

Rule: TypeAlias = "Callable[[Walk, int], int | None]"

RULES: dict[str, Rule] = {}


def head(*words: str) -> Callable[[Rule], Rule]:
    """Register a rule for constructs that begin with one of these words."""

    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(words, rule))
        return rule

    return register


class Frame:
    """An open block. A `single` one ends with the statement in it, a `batch` with its batch."""

    __slots__ = ("batch", "block", "kind", "single")

    def __init__(self, kind: str, block: Block | None = None, *, single: bool = False, batch: bool = False) -> None:
        self.kind = kind
        self.block = block
        self.single = single
        self.batch = batch


class Reader:
    """State shared by the walks over a text and its strings. `otherwise` are the rules if no `@head` rule applies."""

    def __init__(self, text: str, dialect: Dialect, otherwise: tuple[Rule, ...]) -> None:
        self.pieces: list[ProgramPiece] = []
        self.text = text
        self.dialect = dialect
        self.names = Names(dialect)
        self.no_semicolons = dialect.needs_no_semicolon
        self.constants = Constants(text, dialect)
        self.cursors: dict[str, tuple[list[str], list[Token]]] = {}  # those with parameters: names, query
        self.outputs: dict[str, list[int]] = {}  # the positions of OUT parameters, by procedure
        self.packages: dict[str, list[str]] = {}  # the variables of package specifications
        self.package: str | None = None  # the specification that is being read
        self.changed: list[Token] = []  # the table of the trigger that is being read
        self.otherwise = otherwise
        self._depth = 0
        self._blocks_made = 0

    def read(self, tokens: list[Token], outer: tuple[Block, ...]) -> None:
        """Read a text, or the content of a string, within the enclosing blocks."""
        if self._depth < _MAX_STRINGS:
            self._depth += 1
            Walk(self, tokens, outer).run()
            self._depth -= 1

    def block(self, kind: BlockKind) -> Block:
        """Return a new block."""
        self._blocks_made += 1
        return Block(kind, self._blocks_made)


class Walk:
    """The walk over the tokens of one text or string."""

    def __init__(self, reader: Reader, tokens: list[Token], outer: tuple[Block, ...]) -> None:
        self.reader = reader
        self.tokens = tokens
        self.words = [word_of(token) for token in tokens]
        self.outer = outer
        self.frames: list[Frame] = []
        self.text = reader.text
        self.dialect = reader.dialect
        self.no_semicolons = reader.no_semicolons
        self.names = reader.names

    def run(self) -> None:
        """Read all statements."""
        position = 0
        while position < len(self.tokens):
            position = max(self.statement(position), position + 1)

    def statement(self, position: int) -> int:
        """Read the statement that begins at a position; return the position after it."""
        word = self.words[position]
        if word == ";":
            return position + 1
        if self.is_separator(position):
            self.batch_ends()
            return position + 1
        if word == "<<":
            return self.find(position, (">>",)) + 1
        if self.is_label(position):
            return position + 2
        rules = (RULES[word], *self.reader.otherwise) if word in RULES else self.reader.otherwise
        for rule in rules:
            after = rule(self, position)
            if after is not None:
                return after
        return position + 1

    def is_label(self, position: int) -> bool:
        """Return whether a label `name:` is at a position, before a block or, in T-SQL, any statement."""
        if self.word(position + 1) != ":" or not self.words[position]:
            return False
        return self.no_semicolons or self.word(position + 2) in ("LOOP", "WHILE", "FOR", "REPEAT", "FOREACH", "BEGIN")

    def word(self, position: int) -> str:
        """Return the word at a position; an empty string after the end."""
        return self.words[position] if position < len(self.words) else ""

    def find(self, start: int, wanted: frozenset[str] | tuple[str, ...], *, until_semicolon: bool = True) -> int:
        """Return the position of the first wanted word outside brackets and CASE … END; the end if there is none."""
        depth = cases = 0
        for position in range(start, len(self.words)):
            word = self.words[position]
            if not depth and not cases and word in wanted:
                return position
            if word == "(":
                depth += 1
            elif word == ")":
                depth -= 1
            elif word == "CASE":
                cases += 1
            elif word == "END" and cases:
                cases -= 1
            elif word == ";" and until_semicolon:
                break
        return len(self.words)

    def end(self, start: int) -> int:
        """Return the position after a plain statement: of its semicolon or of the next statement."""
        if start >= len(self.words):
            return start
        if self.no_semicolons:
            return statement_end(self.words, start)
        for position in range(start, len(self.words)):
            if self.words[position] == ";" or self.is_separator(position):
                return position
        return len(self.words)

    def is_separator(self, position: int) -> bool:
        """Return whether a client command is at a position: GO, or Oracle's `/`."""
        if self.words[position] != ("GO" if self.no_semicolons else "/"):
            return False
        if not self.no_semicolons and not self.dialect.ends_units_by_slash:
            return False
        token = self.tokens[position]
        line_start = self.text.rfind("\n", 0, token.start) + 1
        line_end = self.text.find("\n", token.end)
        line = self.text[line_start : line_end if line_end >= 0 else len(self.text)]
        return line.strip().rstrip("0123456789 \t").upper() == self.words[position]

    def blocks(self) -> tuple[Block, ...]:
        """Return the open blocks, outermost first."""
        return self.outer + tuple(frame.block for frame in self.frames[:_MAX_BLOCKS] if frame.block is not None)

    def inside(self) -> bool:
        """Return whether a block is open."""
        return bool(self.frames or self.outer)

    def emit(self, start: int, end: int, step: ProgramStep | None = None, *, has_sql: bool = True) -> None:
        """Emit a range of tokens unchanged."""
        self.add(self.tokens[start:end], step, has_sql=has_sql)

    def add(self, tokens: list[Token], step: ProgramStep | None = None, *, has_sql: bool = True) -> None:
        """Emit a statement with its enclosing blocks."""
        if not tokens:
            return
        blocks = self.blocks()
        if step is not None:
            step = replace(step, blocks=blocks)
        elif blocks:
            step = ProgramStep(blocks=blocks)
        self.reader.pieces.append(ProgramPiece(tokens, step, has_sql))

    def assign(self, operation: str, names: list[str], values: list[list[Token]], *, declares: bool = False) -> None:
        """Emit `SELECT value, …`, whose columns are assigned to the variables."""
        constants = self.reader.constants
        is_certain = not any(block.kind is not BlockKind.ROUTINE for block in self.blocks())
        for name, value in zip(names, values, strict=False):
            constants.assign(name, value, self.names, certain=is_certain)
        query: list[Token] = []
        for value in values:
            if value:
                query.append(
                    make_token(TokenType.COMMA, ",", value[0])
                    if query
                    else make_token(TokenType.SELECT, "SELECT", value[0])
                )
                query += value
        listed = tuple(names)
        declared = tuple(Declaration(name, self.blocks()) for name in listed) if declares else ()
        self.add(query, ProgramStep(operation, assigns=listed, declares=declared))

    def query_into(
        self,
        operation: str,
        names: list[str],
        query: list[Token],
        *,
        is_row: bool = False,
        shows_columns: bool = False,
    ) -> None:
        """Emit a query whose columns are assigned to the variables, or all of them to one row variable."""
        for name in names:
            self.reader.constants.forget(name)
        self.add(query, ProgramStep(operation, assigns=tuple(names), is_row=is_row, shows_columns=shows_columns))

    def condition(self, start: int, end: int, operation: str) -> None:
        """Emit the query of a condition, if it reads tables."""
        if "SELECT" in self.words[start:end]:
            first = self.tokens[start]
            self.add([make_token(TokenType.SELECT, "SELECT", first), *self.tokens[start:end]], ProgramStep(operation))

    def from_cursor(self, position: int) -> list[Token]:
        """Return `SELECT * FROM cursor`."""
        at = self.tokens[position]
        return [
            make_token(TokenType.SELECT, "SELECT", at),
            make_token(TokenType.STAR, "*", at),
            make_token(TokenType.FROM, "FROM", at),
            at,
        ]

    def open(self, kind: str, block: BlockKind | None = None, *, single: bool = False) -> None:
        """Open a block."""
        self.frames.append(Frame(kind, self.reader.block(block) if block else None, single=single))

    def branch(self) -> None:
        """Begin the next branch of the innermost block."""
        if self.frames:
            self.frames[-1].block = self.reader.block(BlockKind.BRANCH)

    def after(self, position: int) -> int:
        """Close the blocks that end with the previous statement; T-SQL's IF may continue with ELSE."""
        while self.frames and self.frames[-1].single:
            frame = self.frames[-1]
            ahead = position
            while self.no_semicolons and self.word(ahead) == ";" and frame.kind == "if":
                ahead += 1
            if frame.kind == "if" and self.word(ahead) == "ELSE":
                self.branch()
                frame.kind = "else"
                return ahead + 1
            self.frames.pop()
        return position

    def batch_ends(self) -> None:
        """Close all open blocks at the end of a batch."""
        self.frames.clear()

    def reads_assigned(self, names: list[str], start: int, end: int) -> bool:
        """Return whether a statement reads a variable that it assigns by `@v := value`."""
        if self.no_semicolons or not names:
            return False
        found = [self.names.read(self.tokens, self.words, at)[0] for at in range(start, end) if self.words[at] == "@"]
        return any(found.count(name) > 1 for name in names)

    def close(self, opened: int) -> int:
        """Return the position of the matching closing bracket."""
        depth = 0
        for position in range(opened, len(self.words)):
            depth += (self.words[position] == "(") - (self.words[position] == ")")
            if not depth:
                return position
        return len(self.words)

    def behind_top(self, at: int) -> int:
        """Return the position behind T-SQL's `TOP (n) PERCENT WITH TIES`, which begins here."""
        at = self.close(at + 1) + 1
        at += self.word(at) == "PERCENT"
        return at + 2 * (self.word(at) == "WITH" and self.word(at + 1) == "TIES")

    def inner(self, fragment: Fragment, arguments: Arguments = NO_ARGUMENTS) -> None:
        """Read the content of a string, with its parameters replaced, within the open blocks."""
        tokens = tokens_of(fragment, self.text, self.dialect)
        if tokens:
            self.reader.read(fill(tokens, arguments) if arguments else tokens, self.blocks())
        elif (at := start_token(fragment, self.text)) is not None and not is_readable(fragment, self.dialect):
            step = ProgramStep("EXECUTE", blocks=self.blocks())
            self.reader.pieces.append(ProgramPiece([at], step, has_sql=False, unreadable=True))
