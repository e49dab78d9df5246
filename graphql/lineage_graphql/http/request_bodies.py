"""Request bodies: how large they may be, and decompression, which a small body may turn into a very large one."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterator

from starlette.requests import Request

from lineage.store.remote.wire import PATH as STORE
from lineage.store.remote.wire import Effect, methods
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.settings import Limits

__all__ = ["decode_body", "most_bytes", "read_body"]

_WINDOW = {"deflate": zlib.MAX_WBITS, "gzip": zlib.MAX_WBITS | 16}
_STEP = 65_536
_PIECE = 1_000_000


def most_bytes(path: str, limits: Limits) -> int:
    """Return the maximum size of a body for a path, as it is sent and decompressed."""
    if not path.startswith("/api/"):
        return limits.body_bytes
    method = methods().get(path.removeprefix(f"{STORE}/"))
    if method is not None and method.effect is not Effect.READS:
        return limits.batch_bytes
    return min(limits.event_body_bytes, limits.batch_bytes) if path.startswith(STORE) else limits.event_body_bytes


async def read_body(request: Request, limits: Limits) -> bytes | bytearray:
    """Return the body of a request, decoded.

    Raises:
        RefusedError: see `decode_body`.
    """
    body, encoding = await request.body(), request.headers.get("content-encoding")
    if encoding in (None, "", "identity"):
        return body
    return await asyncio.to_thread(decode_body, body, encoding, most_bytes(request.url.path, limits))


def decode_body(body: bytes, encoding: str, most: int) -> bytes | bytearray:
    """Return a body decoded by its `Content-Encoding`: gzip or deflate.

    Raises:
        RefusedError: the encoding is unsupported, the body is corrupt, or it decodes to more than `most` bytes.
    """
    window = _WINDOW.get(encoding.strip().lower())
    if window is None:
        raise RefusedError(ErrorCode.BAD_ARGUMENT, "the body's encoding is not supported", "send gzip or deflate")
    size, whole = 0, bytearray()
    try:
        for piece in _pieces(body, window):  # counted first: what is too large is never held in memory
            size += len(piece)
            if size > most:
                message = f"the decompressed body is larger than {most:,} bytes"
                hint = "send less per request"
                raise RefusedError(ErrorCode.LIMIT_EXCEEDED, message, hint, limit="body", allowed=most)
        for piece in _pieces(body, window):
            whole += piece
    except zlib.error as error:
        raise RefusedError(ErrorCode.BAD_ARGUMENT, "the body cannot be decompressed") from error
    return whole


def _pieces(body: bytes, window: int) -> Iterator[bytes]:
    """Yield the decompressed body in pieces; gzip may have several members, one after the other."""
    unpacking = zlib.decompressobj(window)
    for start in range(0, len(body), _STEP):
        packed = body[start : start + _STEP]
        while packed:
            if unpacking.eof:
                unpacking = zlib.decompressobj(window)
            yield unpacking.decompress(packed, _PIECE)
            packed = unpacking.unused_data if unpacking.eof else unpacking.unconsumed_tail
    while body and not unpacking.eof:
        piece = unpacking.decompress(b"", _PIECE)
        if not piece:
            raise RefusedError(ErrorCode.BAD_ARGUMENT, "the compressed body is truncated")
        yield piece
