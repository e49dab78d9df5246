"""Table-level lineage read off keywords: for what cannot be parsed.

The positions are those of SQL Table Tracer (FROM, JOIN, INTO, UPDATE, MERGE, USING, CREATE … AS); names of CTEs
and names that are called as functions are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot.tokenizer_core import Token, TokenType

from lineage.frozen import frozen
from lineage.model.names import Naming
from lineage.sql.parse.one_row_tables import column_of_one_row

__all__ = ["TokenTrace", "trace_tokens"]

_WRITES = {
    "INSERT": "INSERT",
    "REPLACE": "INSERT",
    "UPDATE": "UPDATE",
    "DELETE": "DELETE",
    "MERGE": "MERGE",
    "TRUNCATE": "TRUNCATE",
    "COPY": "COPY",
    "LOAD": "LOAD",
}
# Functions whose arguments are separated by FROM: EXTRACT(YEAR FROM x).
_FROM_ARGUMENT = frozenset(("EXTRACT", "SUBSTRING", "TRIM", "POSITION", "OVERLAY", "DATE_PART"))
_OBJECTS = frozenset(("TABLE", "VIEW", "SYNONYM", "STREAM"))
_MAX_HEAD_WORDS = 7
"""`CREATE OR REPLACE TEMPORARY EXTERNAL TABLE`: an object's kind is among the first words."""
_USING_TABLES = frozenset(("MERGE", "DELETE"))
_NOT_A_NAME = frozenset(("SELECT", "VALUES", "LATERAL", "UNNEST", "TABLE", "ONLY", "WHERE", "SET", "ON", "WITH"))


@frozen
class TokenTrace:
    """What a statement does, the table that it writes and those that it reads, in order."""

    operation: str
    destination: str | None
    upstream: tuple[str, ...]


def trace_tokens(tokens: Sequence[Token], naming: Naming) -> TokenTrace:
    """Return the tables that a statement's keywords name."""
    return _Tracer(tokens, naming).trace()


class _Tracer:
    """Walks the words of a statement once, and reads tables at the words that introduce them."""

    def __init__(self, tokens: Sequence[Token], naming: Naming) -> None:
        self._tokens = tokens
        self._words = ["" if _is_text(token) else token.text.upper() for token in tokens]
        self._naming = naming
        self._ctes: set[str] = set()
        self._operation = "UNKNOWN"
        self._destination: str | None = None
        self._upstream: dict[str, None] = {}
        self._brackets: list[bool] = []
        """For each open bracket, whether FROM in it separates a function's arguments."""

    def trace(self) -> TokenTrace:
        """Return what the statement does, and its tables."""
        words, position = self._words, 0
        while position < len(words):
            word = words[position]
            if word == "(":
                self._brackets.append(position > 0 and words[position - 1] in _FROM_ARGUMENT)
            elif word == ")" and self._brackets:
                self._brackets.pop()
            elif word == "AS":
                self._note_cte(position)
            read = _READERS.get(word)
            position = read(self, position) if read is not None else position + 1
        if self._operation in ("UPDATE", "DELETE"):
            self._upstream.pop(self._destination or "", None)
        return TokenTrace(self._operation, self._destination, tuple(self._upstream))

    def _read_write(self, position: int) -> int:
        """INSERT, UPDATE, …: the first one outside brackets is what the statement does."""
        word = self._words[position]
        if self._operation not in ("UNKNOWN", "SELECT") or self._destination is not None or self._brackets:
            return position + 1
        self._operation = _WRITES[word]
        has_target = word in ("UPDATE", "MERGE", "DELETE", "TRUNCATE", "COPY") or (word == "REPLACE" and not position)
        return self._read_target(position + 1) if has_target else position + 1

    def _read_select(self, position: int) -> int:
        if self._operation == "UNKNOWN":
            self._operation = "SELECT"
        return position + 1

    def _read_object(self, position: int) -> int:
        """CREATE, ALTER or DROP TABLE, VIEW, SYNONYM or STREAM."""
        words, word = self._words, self._words[position]
        is_head = words[0] in ("CREATE", "ALTER", "DROP") and position < _MAX_HEAD_WORDS
        if not is_head or self._destination is not None:
            return position + 1
        position = self._read_target(position + 1) if not self._is_nameless(position + 1) else position + 1
        self._operation = f"{words[0]}_{word}" + ("_AS" if word == "TABLE" and "SELECT" in words[position:] else "")
        return self._read_shown(position) if word in ("SYNONYM", "STREAM") else position

    def _is_nameless(self, position: int) -> bool:
        """Return whether AS and a query are where a name belongs: `CREATE VIEW AS (SELECT …`."""
        words = self._words
        return words[position : position + 1] == ["AS"] and words[position + 1 : position + 2] in (
            ["SELECT"], ["WITH"], ["("],
        )  # fmt: skip

    def _read_as(self, position: int) -> int:
        if self._words[0] == "CREATE" and self._destination is None and not self._brackets:
            self._destination = self._named_before(position)
            self._operation = "CREATE" if self._destination is not None else self._operation
        return position + 1

    def _read_into(self, position: int) -> int:
        return self._read_target(position + 1) if self._destination is None else position + 1

    def _read_to(self, position: int) -> int:
        if self._operation == "COPY" and self._destination is None and not self._brackets:
            self._destination = self._file(position + 1)
        return position + 1

    def _read_from(self, position: int) -> int:
        """FROM, JOIN, USING and the tables behind them; USING may list columns instead, or begin a query."""
        words = self._words
        lists_columns = (
            words[position] == "USING" and words[position + 1 : position + 2] == ["("] and words[0] not in _USING_TABLES
        )
        is_argument = bool(self._brackets) and self._brackets[-1]
        return position + 1 if lists_columns or is_argument else self._read_sources(position + 1)

    def _file(self, position: int) -> str | None:
        """Return the file, as it is named, that a query's rows are copied to."""
        token = self._tokens[position] if position < len(self._tokens) else None
        return token.text if token is not None and token.token_type is TokenType.STRING else None

    def _named_before(self, position: int) -> str | None:
        """Return the name before `AS query`, with a list of columns or without: that of an object of unknown kind."""
        words = self._words
        if words[position + 1 : position + 2] not in (["SELECT"], ["WITH"], ["("]):
            return None
        at = position - 1
        if words[at] == ")":
            while at and words[at] != "(":
                at -= 1
            at -= 1
        while at > 2 and words[at - 1] == ".":
            at -= 2
        is_name = at > 1 and _is_name(self._tokens[at]) and words[at] not in _OBJECTS
        return self._name(at)[0] if is_name else None

    def _read_shown(self, position: int) -> int:
        """`CREATE SYNONYM a FOR b`, `CREATE STREAM a ON TABLE b`: what the new name shows."""
        words = self._words
        while position < len(words) and words[position] not in ("FOR", "ON"):
            position += 1
        position += 1
        while position < len(words) and words[position] in ("TABLE", "VIEW", "EXTERNAL", "DYNAMIC"):
            position += 1
        return self._read_sources(position)

    def _note_cte(self, position: int) -> None:
        """`name AS (` and `name (a, b) AS (` begin a CTE."""
        words = self._words
        if position and words[position + 1 : position + 2] == ["("]:
            at = position - 1
            if words[at] == ")":
                while at and words[at] != "(":
                    at -= 1
                at -= 1
            if at >= 0 and _is_name(self._tokens[at]):
                self._ctes.add(self._tokens[at].text.lower())

    def _read_target(self, position: int) -> int:
        """Read the name of the table that is written, and return the position after it."""
        while position < len(self._words) and self._words[position] in (
            "INTO", "TABLE", "FROM", "IF", "NOT", "EXISTS", "ONLY", "OVERWRITE", "VIEW", "LOW_PRIORITY", "DELAYED",
            "HIGH_PRIORITY", "IGNORE",
        ):  # fmt: skip
            position += 1
        name, after = self._name(position)
        self._destination = self._destination or name
        return max(after, position)

    def _read_sources(self, position: int) -> int:
        """Read a FROM list up to what is not a name, and return the position there; `trace` walks the sub-queries."""
        words = self._words
        while position < len(words):
            while position < len(words) and words[position] in ("ONLY", "LATERAL", "TABLE"):
                position += 1
            opened = position
            while opened < len(words) and words[opened] == "(":
                opened += 1
            parts, after = self._parts(opened)
            if not parts:
                return position
            name = self._naming.qualify(parts)
            is_call = after < len(words) and words[after] == "("
            is_quoted = self._tokens[after - 1].token_type is TokenType.IDENTIFIER
            has_rows = column_of_one_row(parts, self._naming.dialect, quoted=is_quoted) is None
            if not is_call and has_rows and name.lower() not in self._ctes:
                self._upstream.setdefault(name)
            position = after
            if is_call:
                return position
            if position < len(words) and words[position] == "AS":
                position += 1
            if position < len(words) and _is_name(self._tokens[position]) and self._is_alias(position):
                position += 1
            if position < len(words) and words[position] == ",":
                position += 1
                continue
            return position
        return position

    def _is_alias(self, position: int) -> bool:
        return self._tokens[position].token_type in (TokenType.VAR, TokenType.IDENTIFIER)

    def _name(self, position: int) -> tuple[str | None, int]:
        """Return the dotted name at a position, completed with the defaults, and the position after it."""
        parts, after = self._parts(position)
        return (self._naming.qualify(parts), after) if parts else (None, position)

    def _parts(self, position: int) -> tuple[list[str], int]:
        """Return the parts of the dotted name at a position, and the position after it."""
        parts: list[str] = []
        tokens, words = self._tokens, self._words
        while position < len(tokens) and _is_name(tokens[position]) and words[position] not in _NOT_A_NAME:
            token = tokens[position]
            quoted = token.token_type is TokenType.IDENTIFIER
            # BigQuery quotes whole paths: `project.dataset.table`.
            texts = token.text.split(".") if quoted and self._naming.dialect.quotes_whole_paths else [token.text]
            parts.extend(self._naming.dialect.fold_table(text, quoted=quoted) for text in texts)
            position += 1
            if position + 1 < len(tokens) and words[position] == ".":
                position += 1
                dialect = self._naming.dialect
                if position + 1 < len(tokens) and words[position] == "." and dialect.may_omit_schema:  # `db..t`
                    parts.append(str(dialect.default_schema))
                    position += 1
                continue
            break
        return parts, position


_READERS: dict[str, Callable[[_Tracer, int], int]] = {
    **dict.fromkeys(_WRITES, _Tracer._read_write),
    **dict.fromkeys(_OBJECTS, _Tracer._read_object),
    "SELECT": _Tracer._read_select,
    "AS": _Tracer._read_as,
    "INTO": _Tracer._read_into,
    "OVERWRITE": _Tracer._read_into,
    "TO": _Tracer._read_to,
    "FROM": _Tracer._read_from,
    "JOIN": _Tracer._read_from,
    "USING": _Tracer._read_from,
}
"""What reads on at a word; each returns the position after what it has read."""


def _is_text(token: Token) -> bool:
    return token.token_type in (TokenType.STRING, TokenType.NUMBER, TokenType.IDENTIFIER)


def _is_name(token: Token) -> bool:
    if token.token_type is TokenType.IDENTIFIER:
        return True
    text = token.text
    return bool(text) and (text[0].isalpha() or text[0] in "_#@") and token.token_type is not TokenType.STRING
