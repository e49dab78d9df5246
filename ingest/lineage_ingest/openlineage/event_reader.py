"""Read events from files: JSON lines or arrays, gzipped or not. Invalid JSON is reported and skipped."""

from __future__ import annotations

import glob
import gzip
import json
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from io import BufferedReader, TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import Any, TextIO, cast

from lineage.frozen import frozen

__all__ = [
    "STDIN",
    "SUFFIXES",
    "BadText",
    "NoEventFilesError",
    "ReadEvent",
    "find_event_files",
    "read_events",
    "why_not_json",
]

STDIN = "-"
SUFFIXES = (".ndjson", ".jsonl", ".json", ".ndjson.gz", ".jsonl.gz", ".json.gz")
"""Suffixes of the files to read from a folder; a file given by path may have any suffix."""

_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 20
_MAX_BYTES = 256 << 20
"""Maximum length of one event, in characters; longer ones are rejected."""

_BETWEEN = " \t\r\n,"


class NoEventFilesError(ValueError):
    """A path or pattern that matches no file."""


@frozen
class ReadEvent:
    """A JSON value and its position (file:line)."""

    position: str
    value: Any


@frozen
class BadText:
    """Invalid JSON in a file: its position and the reason."""

    position: str
    reason: str


def find_event_files(paths: Iterable[str]) -> list[str]:
    """Return the files of files, folders and patterns, in order; `-` (standard input) is kept.

    Raises:
        NoEventFilesError: a path has no file.
    """
    files: dict[str, None] = {}
    for path in paths:
        if path == STDIN:
            files[STDIN] = None
            continue
        given = Path(path)
        if given.is_dir():
            inside = sorted(
                str(one) for one in given.rglob("*") if one.name.lower().endswith(SUFFIXES) and one.is_file()
            )
            if not inside:
                raise NoEventFilesError(f"no event files ({', '.join(SUFFIXES[:3])}, also packed as .gz) under {path}")
            files.update(dict.fromkeys(inside))
        elif given.exists():
            files[path] = None
        else:
            matched = sorted(one for one in glob.glob(path, recursive=True) if Path(one).is_file())
            if not matched:
                raise NoEventFilesError(f"no such file or folder, and no file matches the pattern: {path}")
            files.update(dict.fromkeys(matched))
    return list(files)


def read_events(name: str) -> Iterator[ReadEvent | BadText]:
    """Yield the events of a file, in order. Invalid JSON and unreadable parts are reported and skipped.

    A file that begins with `[` is an array; in other files each line is an event, or each block of lines from a line
    `{` to a line `}`. The file is never loaded into memory as a whole.
    """
    shown = "stdin" if name == STDIN else name
    try:
        with ExitStack() as stack:
            text = _open_text(name, stack)
            line, first = 1, text.readline()
            while first and not first.strip():
                line, first = line + 1, text.readline()
            if first.lstrip().startswith("["):
                yield from _of_array(shown, first, text, line)
            else:
                yield from _of_lines(shown, chain([first], text), line)
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        yield BadText(shown, f"cannot be read further: {reason}")


def _open_text(name: str, stack: ExitStack) -> TextIO:
    if name == STDIN:
        if not hasattr(sys.stdin, "buffer"):  # replaced by a text stream
            return sys.stdin
        raw = cast("BufferedReader", sys.stdin.buffer)
    else:
        raw = stack.enter_context(Path(name).open("rb"))  # noqa: SIM115  the stack closes it
    packed = raw.peek(2)[:2] == _GZIP
    unpacked = cast("BufferedReader", stack.enter_context(gzip.GzipFile(fileobj=raw)) if packed else raw)
    text = TextIOWrapper(unpacked, encoding="utf-8-sig")
    stack.callback(text.detach)  # the stack closes the file; standard input stays open
    return text


def _of_lines(shown: str, lines: Iterable[str], number: int) -> Iterator[ReadEvent | BadText]:
    block: list[str] = []
    began = number
    for line in lines:
        bare = line.rstrip()
        if block:
            block.append(line)
            if bare == "}":
                yield _value(f"{shown}:{began}", "".join(block))
                block = []
        elif bare == "{":
            block, began = [line], number
        elif bare:
            yield _value(f"{shown}:{number}", bare)
        number += 1
    if block:
        yield _value(f"{shown}:{began}", "".join(block))


def _value(position: str, text: str) -> ReadEvent | BadText:
    try:
        return ReadEvent(position, json.loads(text))
    except (ValueError, RecursionError) as error:
        return BadText(position, why_not_json(error))


def _of_array(shown: str, first: str, rest: TextIO, line: int) -> Iterator[ReadEvent | BadText]:
    decoder = json.JSONDecoder()
    buffer, at = first, first.index("[") + 1
    chunk = _CHUNK
    while True:
        while at < len(buffer) and buffer[at] in _BETWEEN:
            line += buffer[at] == "\n"
            at += 1
        if at < len(buffer) and buffer[at] == "]":
            return
        try:
            value, end = decoder.raw_decode(buffer, at)
        except (ValueError, RecursionError) as error:
            more = rest.read(chunk) if len(buffer) - at < _MAX_BYTES else ""
            if more:
                # An incomplete value: double the chunk each time, so that a long one takes linear time.
                buffer, at, chunk = buffer[at:] + more, 0, chunk * 2
                continue
            why = why_not_json(error) if at < len(buffer) else "the array has no end"
            yield BadText(f"{shown}:{line}", f"{why}; what follows is not read")
            return
        yield ReadEvent(f"{shown}:{line}", value)
        line += buffer.count("\n", at, end)
        at, chunk = end, _CHUNK


def why_not_json(error: Exception) -> str:
    """Return why a text is not JSON, without any of its content."""
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} (character {error.colno})"
    return "nested too deeply" if isinstance(error, RecursionError) else f"not JSON: {error}"
