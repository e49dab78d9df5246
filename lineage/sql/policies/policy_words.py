"""The words of a statement about policies: names, lists and clauses, read from its tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot.tokenizer_core import Token, TokenType

from lineage.model.names import Naming, column_text
from lineage.sql.procedural import STRINGS

__all__ = ["PolicyWords"]

_QUOTED = (TokenType.IDENTIFIER, *STRINGS)


class PolicyWords:
    """Reads tokens from the left. A word is one that is not quoted, in upper case; of other tokens it is empty."""

    def __init__(self, tokens: Sequence[Token], naming: Naming, table_name: Callable[[Sequence[str]], str]) -> None:
        """`table_name` returns the full name of an existing table from its parts."""
        # The tokenizer makes one token of some pairs of words.
        pairs = [
            (one, word)
            for one in tokens
            for word in ([""] if one.token_type in _QUOTED else one.text.upper().split() or [""])
        ]
        self.tokens = [one for one, _ in pairs]
        self.words = [word for _, word in pairs]
        self.naming = naming
        self._table_name = table_name
        self.at = 0

    @property
    def is_over(self) -> bool:
        """Whether nothing is left."""
        return self.at >= len(self.tokens)

    def take(self, *phrase: str) -> bool:
        """Skip these words, if they come next."""
        if self.words[self.at : self.at + len(phrase)] != list(phrase):
            return False
        self.at += len(phrase)
        return True

    def take_any(self, *words: str) -> str | None:
        """Skip one of these words, if it comes next, and return it."""
        word = self.words[self.at] if not self.is_over else ""
        return word if word in words and word and self.take(word) else None

    def find(self, *phrase: str) -> bool:
        """Go behind the first occurrence of these words; stay, and return False, if there is none."""
        for start in range(self.at, len(self.words) - len(phrase) + 1):
            if self.words[start : start + len(phrase)] == list(phrase):
                self.at = start + len(phrase)
                return True
        return False

    def parts(self) -> list[tuple[str, bool]]:
        """Return the parts of the dotted name that comes next, each with whether it is quoted; go behind it."""
        found: list[tuple[str, bool]] = []
        while not self.is_over:
            token = self.tokens[self.at]
            if token.token_type in STRINGS or not (token.text[:1].isalnum() or token.text[:1] in '_"#@$`'):
                break
            found.append((token.text, token.token_type is TokenType.IDENTIFIER))
            self.at += 1
            if not self.take("."):
                break
        return found

    def table(self) -> str | None:
        """Return the full name of the table that comes next."""
        self.take("IF", "EXISTS")
        self.take("ONLY")
        parts = self.parts()
        if len(parts) == 1 and parts[0][1] and self.naming.dialect.quotes_whole_paths and "." in parts[0][0]:
            parts = [(one, True) for one in parts[0][0].split(".")]
        if not parts:
            return None
        fold = self.naming.dialect.fold_table
        return self._table_name([fold(text, quoted=quoted) for text, quoted in parts])

    def policy(self) -> str | None:
        """Return the full name of the policy, function or tag that comes next."""
        self.take("IF", "EXISTS") or self.take("IF", "NOT", "EXISTS")
        fold = self.naming.dialect.fold_table
        parts = [str(fold(text, quoted=quoted)) for text, quoted in self.parts()]
        return str(self.naming.qualify(parts)) if parts else None

    def name(self) -> str | None:
        """Return the last part of the name that comes next, as written: a role, a policy of one table."""
        parts = self.parts()
        if not parts:
            return None
        text, quoted = parts[-1]
        return text if quoted else str(self.naming.dialect.fold_table(text))

    def column(self) -> str | None:
        """Return the path of the column that comes next."""
        parts = self.parts()
        fold = self.naming.dialect.fold_column
        return str(column_text(fold(parts[-1][0], quoted=parts[-1][1]))) if parts else None

    def columns(self) -> tuple[str, ...]:
        """Return the columns of the list in parentheses that comes next, if there is one."""
        if not self.take("("):
            return ()
        found = []
        while not self.is_over and not self.take(")"):
            if not self.take(","):
                column = self.column()
                if column is None:
                    self.at += 1
                else:
                    found.append(column)
        return tuple(found)

    def text(self) -> str | None:
        """Return the string that comes next."""
        if self.is_over or self.tokens[self.at].token_type not in STRINGS:
            return None
        self.at += 1
        return self.tokens[self.at - 1].text

    def skip_group(self) -> None:
        """Go behind the parentheses that come next."""
        depth = 0
        while not self.is_over:
            word = self.words[self.at]
            depth += (word == "(") - (word == ")")
            self.at += 1
            if depth <= 0:
                return
