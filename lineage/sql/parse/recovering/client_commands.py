r"""Commands of a database's own client in a script: psql's `\set`, SQL*Plus's `PROMPT`, which no server reads.

They are replaced by spaces, so no position changes.
https://docs.oracle.com/en/database/oracle/oracle-database/23/sqpug/SQL-Plus-command-summary.html
"""

from __future__ import annotations

import re

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.model.dialect import Dialect
from lineage.sql.parse.placeholders import FilledText
from lineage.sql.scan.leading import LEADING

__all__ = ["without_client_commands"]

_PSQL_COMMAND = re.compile(r"^[ \t]*\\.*$", re.MULTILINE)
_NO_BREAK = re.compile(r"[^\n]")
_PSQL_DATA = re.compile(
    r"(\bcopy\b[^;]{0,9999}?\bfrom\s+stdin\b(?:[^;'\n]|'[^'\n]*')*;[ \t]*\n)((?s:.*?)^\\\.[ \t\r]*$)",
    re.IGNORECASE | re.MULTILINE,
)
"""Rows between `COPY … FROM STDIN;` and a line with `\\.`, as pg_dump writes them."""
_PSQL_COPY = re.compile(r"([ \t]*)\\(copy\b.*\b(?:from|to))[ \t]+('(?:[^']|'')*').*", re.IGNORECASE)
_PSQL_COPY_OF_FILE = re.compile(r"[ \t]*\\copy\b(?!.*\b(?:from|to)[ \t]+(?:p?std(?:in|out)|program)\b)", re.IGNORECASE)
_SQLPLUS_COMMAND = re.compile(
    r"(?:SET\s(?!\s*(?:TRANSACTION|ROLE|CONSTRAINTS?)\b)|PRO(?:MPT)?\b|SPO(?:OL)?\b|REM(?:ARK)?\b|WHENEVER\s|@@?|!"
    r"|COL(?:UMN)?\s|DEF(?:INE)?\b|UNDEF(?:INE)?\s|VAR(?:IABLE)?\b|ACC(?:EPT)?\s|PAU(?:SE)?\b|PRI(?:NT)?\b|SHO(?:W)?\s"
    r"|[TB]TI(?:TLE)?\b|REPHEADER\b|REPFOOTER\b|BRE(?:AK)?\b|COMP(?:UTE)?\b|CL(?:EAR)?\s|CONN(?:ECT)?\b|DISC\b"
    r"|DISCONNECT\b|HO(?:ST)?\s|TIMI(?:NG)?\b|DESC(?:RIBE)?\s|STA(?:RT)?\s|STARTUP\b|SHUTDOWN\b|EXIT\b|QUIT\b"
    r"|ARCHIVE\s+LOG\b|PASSW(?:ORD)?\b|STORE\s+SET\b)(?:.*-[ \t]*\r?\n)*.*",
    re.IGNORECASE,
)
"""A command of SQL*Plus, with the lines that a hyphen continues."""
_EXECUTE = re.compile(r"EXEC(?:UTE)?\s(?!\s*IMMEDIATE\b)", re.IGNORECASE)
_BLOCK = re.compile(
    r"(?:DECLARE|BEGIN)\b|CREATE\s+(?:OR\s+REPLACE\s+)?(?:(?:NON)?EDITIONABLE\s+)?"
    r"(?:PROCEDURE|FUNCTION|PACKAGE|TRIGGER|TYPE|LIBRARY|JAVA)\b",
    re.IGNORECASE,
)
"""What only a line `/` ends."""
_LEADING = re.compile(LEADING.replace("|#[^\\n]*+", ""))
_PIECE = re.compile(
    r"""n?q'(?:\[(?:.*?\]'|.*)|\{(?:.*?\}'|.*)|\((?:.*?\)'|.*)|<(?:.*?>'|.*)|(?P<mark>[^\s\[{(<])(?:.*?(?P=mark)'|.*))"""
    r"""|'(?:[^']|'')*+'?|"[^"]*+"?|--[^\n]*+|/\*(?:.*?\*/|.*)"""
    r"""|(?P<hyphen>-)(?=[ \t]*\r?$)|(?P<slash>^[ \t]*/[ \t]*\r?$)|(?P<end>;)""",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
"""A string or comment that is not closed ends with the text, so that no part of the text is searched twice."""
_OPENS_OPERAND = re.compile(
    r"(?:[,(=<>|*/+]|\b(?:select|distinct|from|where|and|or|not|by|in|on|set|values|then|else|when))\s*\Z",
    re.IGNORECASE,
)
_NO_OPERAND = re.compile(
    r"\s*(?:[,)=<>|;*/+]|(?:select|from|where|and|or|not|by|in|on|as|is|set|values|then|else|when|end|group|order|having"
    r"|join|left|right|full|inner|cross|union|minus|intersect|into|using|between|like)\b)",
    re.IGNORECASE,
)
_ALIAS = re.compile(r"""\s*(?:"[^"]*"|[a-z]\w*)\s*(?:[,);]|\Z|(?P<clause>(?:from|into)\b))""", re.IGNORECASE)
_STATEMENT = re.compile(
    rf"{LEADING}(?:\Z|(?:SELECT|WITH|INSERT|UPDATE|DELETE|MERGE|CREATE|ALTER|DROP|TRUNCATE|COMMENT|GRANT|REVOKE|COMMIT"
    r"|ROLLBACK|BEGIN|DECLARE|CALL|EXPLAIN|ANALYZE|LOCK|RENAME|PURGE|FLASHBACK|SET|EXEC|EXECUTE)\b)",
    re.IGNORECASE,
)
_CONTINUED = re.compile(r"(?:.*-[ \t]*\r?\n)*.*")
_SIGNS = re.compile(
    rf"^[ \t]*(?:{_SQLPLUS_COMMAND.pattern}|{_EXECUTE.pattern}|/[ \t]*\r?$)|-[ \t]*\r?$", re.IGNORECASE | re.MULTILINE
)


class _Script:
    """What SQL*Plus reads for itself in a script, by its places."""

    def __init__(self, text: str) -> None:
        self.commands: list[tuple[int, int]] = []
        """Empty for EXECUTE, which the server reads."""
        self.hyphens: list[tuple[int, bool]] = []
        """Hyphens at the end of a statement's line, and whether the statement is a block."""
        self.continued: list[int] = []
        """Hyphens at the end of a command's line."""
        self.slashes: list[int] = []
        """Lines `/` that end a statement without a semicolon."""
        at = 0
        while at < len(text):
            at = self._read(text, at)

    def _read(self, text: str, start: int) -> int:
        """Read the next command or statement from an index on; return where it ends."""
        at = _end_of(_LEADING, text, start)
        if not start or "\n" in text[start:at]:
            if (command := _SQLPLUS_COMMAND.match(text, at)) is not None:
                self.commands.append(command.span())
                return command.end()
            if _EXECUTE.match(text, at):
                stop = _end_of(_CONTINUED, text, at)
                self.commands.append((at, at))
                self.continued += [m.start() for m in _PIECE.finditer(text, at, stop) if m["hyphen"] is not None]
                return stop
        is_block = _BLOCK.match(text, at) is not None
        for piece in _PIECE.finditer(text, at):
            if piece["hyphen"] is not None:
                self.hyphens.append((piece.start(), is_block))
            elif piece["slash"] is not None:
                if not is_block:
                    self.slashes.append(text.index("/", piece.start()))
                return piece.end()
            elif piece["end"] is not None and not is_block:
                return piece.end()
        return len(text)


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found is not None else at


def without_client_commands(text: str, dialect: Dialect) -> FilledText:
    """Return a script without the commands of its client, and doubts about hyphens that only SQL*Plus reads as one.

    >>> from lineage.model.dialects import dialect_named
    >>> without_client_commands("SET ECHO OFF\\nSELECT a, -\\nb FROM t;", dialect_named("oracle")).text
    '            \\nSELECT a,  \\nb FROM t;'
    """
    if dialect.has_backslash_commands and "\\" in text:
        if "\\." in text:
            text = _PSQL_DATA.sub(lambda found: found[1] + _NO_BREAK.sub(" ", found[2]), text)
        text = _PSQL_COMMAND.sub(_without_psql_command, text)
    if not dialect.has_ampersand_variables or not _SIGNS.search(text):
        return FilledText(text)
    script = _Script(text)
    blanks = [*script.commands, *((at, at + 1) for at in script.continued)]
    doubts: list[Diagnostic] = []
    for at, in_block in script.hyphens:
        after = text[at + 1 : at + 80]
        continues = _NO_OPERAND.match(after) is not None
        if not continues:
            opens = _OPENS_OPERAND.search(text[max(0, at - 24) : at]) is not None
            alias = _ALIAS.match(after)
            if not opens and (alias is None or (in_block and alias["clause"] is None)):
                continue  # without the minus, this is no SQL
            continues = opens or bool(script.commands)
            if not script.commands:
                doubts.append(_doubt(text, at, continues=continues))
        if continues:
            blanks.append((at, at + 1))
    changed = list(text)
    for start, end in blanks:
        changed[start:end] = _NO_BREAK.sub(" ", text[start:end])
    for at in script.slashes:
        if script.commands or _STATEMENT.match(text, at + 1):
            changed[at] = ";"
    return FilledText("".join(changed), tuple(doubts))


def _without_psql_command(line: re.Match[str]) -> str:
    """Return a line of psql's commands as blanks, `\\copy` as COPY of the same length; a file without quotes stays."""
    text = line.group()
    if (copy := _PSQL_COPY.match(text)) is not None:
        return f"{copy[1]} {copy[2]}{copy[3]};".ljust(len(text))
    return text if _PSQL_COPY_OF_FILE.match(text) else " " * len(text)


def _doubt(text: str, at: int, *, continues: bool) -> Diagnostic:
    read = "it is read so" if continues else "it is read as a minus, as other clients do"
    message = f"in SQL*Plus, a hyphen at the end of a line continues it: {read}"
    hint = "move the hyphen to the next line, or remove it"
    span = Span.locate(text, at, at + 1)
    return Diagnostic(DiagnosticCode.UNSUPPORTED_SYNTAX, Severity.WARNING, message, span, hint)
