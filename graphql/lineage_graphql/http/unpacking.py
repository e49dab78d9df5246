"""Decompression of request bodies up to a limit: a small body may decompress to a very large one."""

from __future__ import annotations

import zlib

from lineage_graphql.errors import ErrorCode, RefusedError

__all__ = ["decode_body"]

_WINDOW = {"deflate": zlib.MAX_WBITS, "gzip": zlib.MAX_WBITS | 16}


def decode_body(body: bytes, encoding: str | None, most: int) -> bytes:
    """Return a body decoded by its `Content-Encoding`: gzip, deflate or none.

    Raises:
        RefusedError: the encoding is unsupported, the body is corrupt, or it decodes to more than `most` bytes.
    """
    if encoding in (None, "", "identity"):
        return body
    window = _WINDOW.get(str(encoding).strip().lower())
    if window is None:
        raise RefusedError(ErrorCode.BAD_ARGUMENT, "the body's encoding is not supported", "send gzip or deflate")
    parts: list[bytes] = []
    left = most + 1
    while body:  # gzip may have several members, one after the other
        unpacking = zlib.decompressobj(window)
        try:
            parts.append(unpacking.decompress(body, left))
        except zlib.error as error:
            raise RefusedError(ErrorCode.BAD_ARGUMENT, "the body cannot be decompressed") from error
        left -= len(parts[-1])
        if left <= 0:
            message = f"the decompressed body is larger than {most:,} bytes"
            raise RefusedError(ErrorCode.LIMIT_EXCEEDED, message, "send less per request", limit="body", allowed=most)
        if not unpacking.eof:
            raise RefusedError(ErrorCode.BAD_ARGUMENT, "the compressed body is truncated")
        body = unpacking.unused_data
    return b"".join(parts)
