"""From the bytes of a SQL file to its text: encodings by their byte order mark, and what is no text at all."""

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
"""A share of control characters that no text has; of random bytes it is a tenth."""


class DecodedText(NamedTuple):
    """A file's text, and what is wrong with its encoding; the text is None where there is none."""

    text: str | None
    problem: Diagnostic | None = None


def decode_sql(raw: bytes, name: str) -> DecodedText:
    """Return the text of a file's bytes. Bytes that are not of its encoding are replaced and reported.

    >>> decode_sql("SELECT é".encode("utf-16"), "a.sql").text
    'SELECT é'
    >>> print(decode_sql(bytes(range(256)), "a.sql").problem)
    error UNREADABLE_FILE: a.sql is no text: it holds control characters (is it packed, or UTF-16 without a mark?)
    """
    encoding = next((encoding for bom, encoding in _BOMS if raw.startswith(bom)), "utf-8")
    begin = raw[:_LOOKED_AT]
    if encoding.startswith("utf-8") and len(begin.translate(None, _CONTROLS)) < len(begin) * (1 - _MAX_CONTROLS):
        message, hint = f"{name} is no text: it holds control characters", "is it packed, or UTF-16 without a mark?"
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
