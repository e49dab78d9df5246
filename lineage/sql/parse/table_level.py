"""Table-level lineage read off keywords: for what cannot be parsed.

The positions are those of SQL Table Tracer (FROM, JOIN, INTO, UPDATE, MERGE, USING, CREATE … AS); names of CTEs
and names that are called as functions are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot.tokenizer_core import Token, TokenType

from lineage.model.names import Naming

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
_USING_TABLES = frozenset(("MERGE", "DELETE"))
_NOT_A_NAME = frozenset(("SELECT", "VALUES", "LATERAL", "UNNEST", "TABLE", "ONLY", "WHERE", "SET", "ON", "WITH"))


@dataclass(frozen=True, slots=True)
class TokenTrace:
    """What a statement does, the table that it writes and those that it reads, in order."""

    operation: str
    destination: str | None
    upstream: tuple[str, ...]


def trace_tokens(tokens: Sequence[Token], naming: Naming) -> TokenTrace:
    """Return the tables that a statement's keywords name."""
    return _Tracer(tokens, naming).trace()


class _Tracer:
    def __init__(self, tokens: Sequence[Token], naming: Naming) -> None:
        self._tokens = tokens
        self._words = ["" if _is_text(token) else token.text.upper() for token in tokens]
        self._naming = naming
        self._ctes: set[str] = set()

    def trace(self) -> TokenTrace:
        words = self._words
        destination: str | None = None
        operation = "UNKNOWN"
        upstream: dict[str, None] = {}
        calls: list[bool] = []
        position = 0
        while position < len(words):
            word = words[position]
            if word == "(":
                calls.append(position > 0 and words[position - 1] in _FROM_ARGUMENT)
            elif word == ")" and calls:
                calls.pop()
            elif word in ("AS", "WITH", "RECURSIVE", ",") or (word and position == 0):
                self._note_cte(position)
            if word in _WRITES and operation in ("UNKNOWN", "SELECT") and destination is None and not calls:
                operation = _WRITES[word]
                if word in ("UPDATE", "MERGE", "DELETE", "TRUNCATE", "COPY") or (word == "REPLACE" and not position):
                    destination, position = self._target(position + 1, destination)
                    continue
            elif word == "SELECT" and operation == "UNKNOWN":
                operation = "SELECT"
            elif word in _OBJECTS and words[0] in ("CREATE", "ALTER", "DROP") and position < 7 and destination is None:
                destination, position = self._target(position + 1, destination)
                operation = f"{words[0]}_{word}" + ("_AS" if word == "TABLE" and "SELECT" in words[position:] else "")
                if word in ("SYNONYM", "STREAM"):
                    position = self._shown(position, upstream)
                continue
            elif word == "AS" and words[0] == "CREATE" and destination is None and not calls:
                destination = self._named_before(position)
                operation = "CREATE" if destination is not None else operation
            elif word in ("INTO", "OVERWRITE"):
                if destination is None:
                    destination, position = self._target(position + 1, destination)
                    continue
            elif word == "TO" and operation == "COPY" and destination is None and not calls:
                destination = self._file(position + 1)
            elif word == "USING" and words[position + 1 : position + 2] == ["("] and words[0] not in _USING_TABLES:
                pass  # columns that a join compares, or a query that is walked
            elif word in ("FROM", "JOIN", "USING") and not (calls and calls[-1]):
                position = self._sources(position + 1, upstream)
                continue
            position += 1
        upstream.pop(destination or "", None) if operation in ("UPDATE", "DELETE") else None
        return TokenTrace(operation, destination, tuple(upstream))

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
        return self._name(at)[0] if at > 1 and _is_name(self._tokens[at]) else None

    def _shown(self, position: int, upstream: dict[str, None]) -> int:
        """`CREATE SYNONYM a FOR b`, `CREATE STREAM a ON TABLE b`: what is shown under the new name."""
        words = self._words
        while position < len(words) and words[position] not in ("FOR", "ON"):
            position += 1
        position += 1
        while position < len(words) and words[position] in ("TABLE", "VIEW", "EXTERNAL", "DYNAMIC"):
            position += 1
        return self._sources(position, upstream)

    def _note_cte(self, position: int) -> None:
        """`name AS (` and `name (a, b) AS (` begin a CTE."""
        words = self._words
        if words[position] == "AS" and position + 1 < len(words) and words[position + 1] == "(" and position:
            at = position - 1
            if words[at] == ")":
                while at and words[at] != "(":
                    at -= 1
                at -= 1
            if at >= 0 and _is_name(self._tokens[at]):
                self._ctes.add(self._tokens[at].text.lower())

    def _target(self, position: int, found: str | None) -> tuple[str | None, int]:
        while position < len(self._words) and self._words[position] in (
            "INTO", "TABLE", "FROM", "IF", "NOT", "EXISTS", "ONLY", "OVERWRITE", "VIEW", "LOW_PRIORITY", "DELAYED",
            "HIGH_PRIORITY", "IGNORE",
        ):  # fmt: skip
            position += 1
        name, after = self._name(position)
        return (found or name), max(after, position)

    def _sources(self, position: int, upstream: dict[str, None]) -> int:
        """Read a FROM list up to what is not a name; sub-queries are walked by the caller."""
        words = self._words
        while position < len(words):
            while position < len(words) and words[position] in ("ONLY", "LATERAL", "TABLE"):
                position += 1
            opened = position
            while opened < len(words) and words[opened] == "(":
                opened += 1
            name, after = self._name(opened)
            if name is None:
                return position
            is_call = after < len(words) and words[after] == "("
            if not is_call and name.lower() not in self._ctes:
                upstream.setdefault(name)
            position = after
            if is_call:
                return position
            if position < len(words) and words[position] == "AS":
                position += 1
            if position < len(words) and _is_name(self._tokens[position]) and self._plain(position):
                position += 1
            if position < len(words) and words[position] == ",":
                position += 1
                continue
            return position
        return position

    def _plain(self, position: int) -> bool:
        return self._tokens[position].token_type in (TokenType.VAR, TokenType.IDENTIFIER)

    def _name(self, position: int) -> tuple[str | None, int]:
        """Return the dotted name at a position, completed with the defaults, and the position after it."""
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
                schema = self._naming.dialect.omitted_schema
                if position + 1 < len(tokens) and words[position] == "." and schema is not None:  # `db..t`
                    parts.append(schema)
                    position += 1
                continue
            break
        return (self._naming.qualify(parts), position) if parts else (None, position)


def _is_text(token: Token) -> bool:
    return token.token_type in (TokenType.STRING, TokenType.NUMBER, TokenType.IDENTIFIER)


def _is_name(token: Token) -> bool:
    if token.token_type is TokenType.IDENTIFIER:
        return True
    text = token.text
    return bool(text) and (text[0].isalpha() or text[0] in "_#@") and token.token_type is not TokenType.STRING
