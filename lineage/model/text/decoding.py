"""Decode the bytes of a SQL file: encodings by byte order mark, and detection of binary files."""

from __future__ import annotations

import codecs
from typing import NamedTuple

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span

__all__ = ["DecodedText", "decode_sql"]

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LOOKED_AT = 65_536
_CONTROLS = bytes(set(range(32)) - {9, 10, 12, 13, 27})
_MAX_CONTROLS = 0.02
"""The largest share of control characters in text; random bytes have about a tenth."""


class DecodedText(NamedTuple):
    """A file's text, and the problem with its encoding, if any; the text is None for a binary file."""

    text: str | None
    problem: Diagnostic | None = None


def decode_sql(raw: bytes, name: str) -> DecodedText:
    """Return the text of a file's bytes. Bytes that are invalid in its encoding are replaced and reported.

    >>> decode_sql("SELECT é".encode("utf-16"), "a.sql").text
    'SELECT é'
    >>> print(decode_sql(bytes(range(256)), "a.sql").problem)
    error UNREADABLE_FILE: a.sql is not text: it contains control characters (compressed, or UTF-16 without a BOM?)
    """
    encoding = next((encoding for bom, encoding in _BOMS if raw.startswith(bom)), "utf-8")
    begin = raw[:_LOOKED_AT]
    if encoding.startswith("utf-8") and len(begin.translate(None, _CONTROLS)) < len(begin) * (1 - _MAX_CONTROLS):
        message = f"{name} is not text: it contains control characters"
        hint = "compressed, or UTF-16 without a BOM?"
        return DecodedText(None, Diagnostic(DiagnosticCode.UNREADABLE_FILE, Severity.ERROR, message, hint=hint))
    try:
        return DecodedText(raw.decode(encoding))
    except UnicodeDecodeError as error:
        text = raw.decode(encoding, errors="replace")
        start = len(raw[: error.start].decode(encoding, errors="replace"))
        problem = Diagnostic(
            DiagnosticCode.INVALID_ENCODING,
            Severity.ERROR,
            f"{name} is not valid {encoding.upper()}: byte 0x{raw[error.start]:02x} at offset {error.start}",
            Span.locate(text, start, start + 1),
            "save the file as UTF-8; the rest of it was read",
        )
        return DecodedText(text, problem)
