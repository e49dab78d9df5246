"""Opens a log file as bytes or as text. Compression and Unicode encoding are detected from its first bytes.

Spark compresses its event logs in the formats of its Java libraries: LZ4 or Snappy blocks, each with a header.
"""

from __future__ import annotations

import bz2
import io
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

__all__ = ["compression_of", "encoding_of", "lines_of", "open_bytes", "open_text", "read_head"]

_HEAD = 1_000_000
"""Number of decompressed bytes from which a file's form is detected."""
_SMALL = 8_192
"""Number of bytes per read: small, since a read that fails loses all of its bytes."""
_PACKED = 65_536
_MAX_AT_ONCE = 1 << 20
"""Maximum number of bytes that a step decompresses to."""
_COMPRESSIONS = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"LZ4Block": "lz4 blocks",
    b"\x82SNAPPY\0": "snappy blocks",
    b"\xff\x06\x00\x00sNaPpY": "snappy frames",
    b"ZV\0": "lzf",
    b"ZV\1": "lzf",
    b"PK\x03\x04": "zip",
    b"\xfd7zXZ\0": "xz",
    b"7z\xbc\xaf\x27\x1c": "7z",
}
_NOT_UNPACKED = frozenset(("lzf", "zip", "xz", "7z"))
_ZSTD_SKIPPABLE = range(0x184D2A50, 0x184D2A60)
_LZ4_BLOCK = struct.Struct("<8sBiii")
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def compression_of(start: bytes) -> str | None:
    """Return the compression of a file that begins with these bytes; None if it is not compressed.

    >>> compression_of(b"\\x1f\\x8b\\x08"), compression_of(b"query_text")
    ('gzip', None)
    """
    for mark, name in _COMPRESSIONS.items():
        if start.startswith(mark):
            return name
    return "zstd" if len(start) >= 4 and int.from_bytes(start[:4], "little") in _ZSTD_SKIPPABLE else None


def encoding_of(start: bytes) -> str:
    """Return the encoding of a text that begins with these bytes.

    >>> encoding_of("é".encode("utf-16")), encoding_of("SELECT".encode("utf-16-be")), encoding_of(b"SELECT")
    ('utf-16', 'utf-16-be', 'utf-8')
    """
    for mark, name in _MARKS:
        if start.startswith(mark):
            return name
    even, odd = start[0:200:2], start[1:200:2]
    if len(odd) > 1 and not any(even) and all(odd):
        return "utf-16-be"
    if len(odd) > 1 and not any(odd) and all(even):
        return "utf-16-le"
    return "utf-8"


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Yield a file object with the decompressed bytes of a file.

    Raises:
        OSError: the file cannot be opened, or its compression is not supported.
    """
    with path.open("rb") as raw:
        start = raw.read(16)
        raw.seek(0)
        name = compression_of(start)
        if name in _NOT_UNPACKED:
            raise OSError(f"a file compressed by {name} is not read: unpack it, or use gzip, zstd, lz4 or bz2")
        if name is None:
            yield raw
        elif name in _BLOCKS:
            with io.BufferedReader(_Blocks(_BLOCKS[name](raw)), 1 << 20) as blocks:
                yield blocks
        else:
            with pa.OSFile(str(path)) as file, pa.CompressedInputStream(file, name) as stream:
                yield io.BufferedReader(stream)  # small reads: a read that fails loses all of its bytes


@contextmanager
def open_text(path: Path, newline: str = "\n") -> Iterator[IO[str]]:
    """Yield a file object with the decompressed text of a file.

    Undecodable bytes become surrogates (`surrogateescape`) in UTF-8, and U+FFFD in UTF-16.

    Raises:
        OSError: the file cannot be opened, or its compression is not supported.
    """
    with open_bytes(path) as raw:
        reader = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw)  # type: ignore[type-var]
        encoding = encoding_of(reader.peek(200)[:200])
        escaped = "surrogateescape" if encoding.startswith("utf-8") else "replace"
        yield io.TextIOWrapper(reader, encoding=encoding, errors=escaped, newline=newline)


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a text with their line ends: `\n`, `\r\n` or `\r`, but no other Unicode separators.

    >>> lines_of("a\u2028b\x0cc\r\nd\re")
    ['a\u2028b\x0cc\r\n', 'd\r', 'e']
    """
    return list(io.StringIO(text, newline=""))


def read_head(path: Path, size: int = _HEAD) -> bytes:
    """Return the first `size` decompressed bytes of a file, or as many as can be read."""
    head = bytearray()
    try:
        with open_bytes(path) as raw:
            while len(head) < size and (part := raw.read1(min(_SMALL, size - len(head)))):  # type: ignore[attr-defined]
                head += part
    except (OSError, EOFError, pa.ArrowException):
        pass  # reading the whole file reports the error
    return bytes(head)


class _Blocks(io.RawIOBase):
    """A raw stream over decompressed blocks."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            found = next(self._blocks, None)
            if found is None:
                return 0
            self._rest = memoryview(found)
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def _gzip_parts(raw: IO[bytes]) -> Iterator[bytes]:
    """Yield the decompressed bytes of a gzip file up to where it is truncated; it may have several members."""
    unpacker = zlib.decompressobj(31)
    packed = raw.read(_PACKED)
    while packed:
        try:
            if part := unpacker.decompress(packed, _MAX_AT_ONCE):
                yield part
        except zlib.error as error:
            raise OSError(f"not a whole file of gzip: {error}") from error
        packed = unpacker.unconsumed_tail
        if unpacker.eof:
            rest = unpacker.unused_data.lstrip(b"\0") or raw.read(_PACKED).lstrip(b"\0")
            if not rest:
                return
            unpacker, packed = zlib.decompressobj(31), rest
        packed = packed or raw.read(_PACKED)
    raise EOFError("the gzip data ends early")


def _bz2_parts(raw: IO[bytes]) -> Iterator[bytes]:
    """Yield the decompressed bytes of a bzip2 file up to a truncated block; it may have several streams."""
    unpacker = bz2.BZ2Decompressor()
    packed = raw.read(_PACKED)
    while packed or not unpacker.needs_input:
        if part := unpacker.decompress(packed, _MAX_AT_ONCE):
            yield part
        packed = b""
        if unpacker.eof:
            packed = unpacker.unused_data.lstrip(b"\0") or raw.read(_PACKED).lstrip(b"\0")
            if not packed:
                return
            unpacker = bz2.BZ2Decompressor()
        elif unpacker.needs_input:
            packed = raw.read(_PACKED)
    raise EOFError("the file ended within what bzip2 packed")


def _lz4_blocks(raw: IO[bytes]) -> Iterator[bytes]:
    """Yield the blocks of net.jpountz's LZ4BlockOutputStream."""
    codec = pa.Codec("lz4_raw")
    while head := raw.read(_LZ4_BLOCK.size):
        if len(head) < _LZ4_BLOCK.size:
            raise EOFError("the file ended within a block of LZ4")
        magic, token, packed, plain, _checksum = _LZ4_BLOCK.unpack(head)
        if magic != b"LZ4Block" or packed < 0 or plain < 0:
            raise OSError("not a block of LZ4")
        body = _exactly(raw, packed)
        if plain:  # an empty block ends a stream; another stream may follow
            yield body if token & 0xF0 == 0x10 else codec.decompress(body, plain, asbytes=True)


def _snappy_blocks(raw: IO[bytes]) -> Iterator[bytes]:
    """Yield the blocks of org.xerial.snappy's SnappyOutputStream; a file may have several streams."""
    codec = pa.Codec("snappy")
    while head := raw.read(4):
        if head == b"\x82SNA":
            _exactly(raw, 12)  # the rest of the magic and two versions
            continue
        if len(head) < 4:
            raise EOFError("the file ended within a block of Snappy")
        body = _exactly(raw, int.from_bytes(head, "big"))
        yield codec.decompress(body, _snappy_length(body), asbytes=True)


def _snappy_frames(raw: IO[bytes]) -> Iterator[bytes]:
    """Yield the chunks of the Snappy framing format."""
    codec = pa.Codec("snappy")
    while head := raw.read(4):
        if len(head) < 4:
            raise EOFError("the file ended within a chunk of Snappy")
        body = _exactly(raw, int.from_bytes(head[1:], "little"))
        if head[0] == 0:
            yield codec.decompress(body[4:], _snappy_length(body[4:]), asbytes=True)
        elif head[0] == 1:
            yield body[4:]
        elif 2 <= head[0] <= 0x7F:
            raise OSError("a chunk of Snappy that no release writes")


def _snappy_length(body: bytes) -> int:
    """Return the length at the start of a Snappy block, a varint with seven bits per byte."""
    length = 0
    for index, byte in enumerate(body[:5]):
        length |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return length
    raise OSError("not a block of Snappy")


def _exactly(raw: IO[bytes], count: int) -> bytes:
    body = raw.read(count) if 0 <= count < 1 << 30 else b""
    if len(body) != count:
        raise EOFError("the file ended within a compressed block")
    return body


_BLOCKS: dict[str, Callable[[IO[bytes]], Iterator[bytes]]] = {
    "gzip": _gzip_parts,
    "bz2": _bz2_parts,
    "lz4 blocks": _lz4_blocks,
    "snappy blocks": _snappy_blocks,
    "snappy frames": _snappy_frames,
}
