"""Escape untrusted text (names, SQL, logs) for display: no terminal control sequences, no bidirectional overrides."""

from __future__ import annotations

import logging
import re

__all__ = ["VisibleFormatter", "visible", "visible_line"]

# C0 except tab and line feed, DEL, C1; bidirectional marks and overrides; line separators; invisible characters.
_STEERING = (
    "\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff"
)
_IN_TEXTS = re.compile(rf"[{_STEERING}]|\r(?!\n)")
_IN_LINES = re.compile(rf"[{_STEERING}\r\n\t]")


def visible(text: str) -> str:
    r"""Return the text with control and invisible characters replaced by visible ones; line feeds and tabs are kept.

    >>> visible("a\x1b[31mb\u202ec\nd")
    'a␛[31mb\\u202ec\nd'
    """
    return _IN_TEXTS.sub(_escape, text)


def visible_line(text: str) -> str:
    r"""Return the text in one line, with line feeds and tabs replaced by visible characters too.

    >>> visible_line("a\tb\r\nc")
    'a␉b␍␊c'
    """
    return _IN_LINES.sub(_escape, text)


class VisibleFormatter(logging.Formatter):
    """Formats log records safely: a message is one line, and no record can control the terminal."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  the name is logging's
        """Return the record's line."""
        record.message = visible_line(record.message)
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's line, followed by the traceback, if any."""
        return visible(super().format(record))


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
