"""Converts PostgreSQL's `log_line_prefix`, the prefix of each log message, to a regular expression.

https://www.postgresql.org/docs/current/runtime-config-logging.html#GUC-LOG-LINE-PREFIX
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["KNOWN_PREFIXES", "LinePrefixError", "line_pattern", "recognise_prefix"]

KNOWN_PREFIXES = (
    "%m:%r:%u@%d:[%p]:%l:%e:%s:%v:%x:%c:%q%a:",
    "%t:%r:%u@%d:[%p]:",
    "%m [%p]: [%l-1] db=%d,user=%u ",
    "%t [%p]: [%l-1] user=%u,db=%d,app=%a,client=%h ",
    "%t [%p]: [%l-1] db=%d,user=%u,app=%a,client=%h ",
    "%t [%p]: user=%u,db=%d,app=%a,client=%h ",
    "%t [%p]: db=%d,user=%u,app=%a,client=%h ",
    "%t [%p]: [%l-1] user=%u,db=%d ",
    "%t [%p-%l] %q%u@%d ",
    "%m [%p] %q%u@%d/%a ",
    "%m [%p] %q%u@%d ",
    "%m [%p] %q[user=%u,db=%d,app=%a] ",
    "%t-%c-",
    "%m [%p]: ",
    "%m [%p] ",
    "%t [%p]: [%l-1] ",
    "%t [%p] ",
)
"""Prefixes of PostgreSQL, Linux distributions, cloud providers, and those that tools recommend; longer ones first."""

_ZONE = r"(?:[A-Za-z]{1,6}|[+-]\d{2}(?::?\d{2})?)"
_SECOND = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
_ESCAPES = {
    "a": ("", r".*?"),
    "u": ("user_name", r".*?"),
    "d": ("database_name", r".*?"),
    "r": ("connection_from", r"[^\s()@]*(?:\(\d+\))?"),
    "h": ("connection_from", r"[^\s(),@]*"),
    "L": ("", r"\S*"),
    "b": ("", r"[\w ]*?"),
    "p": ("process_id", r"\d+"),
    "P": ("", r"\d*"),
    "t": ("log_time", rf"{_SECOND} {_ZONE}"),
    "m": ("log_time", rf"{_SECOND}\.\d{{3}} {_ZONE}"),
    "n": ("log_time", r"\d+\.\d{3}"),
    "i": ("", r"[\w ]*?"),
    "e": ("sql_state_code", r"[0-9A-Z]{5}"),
    "c": ("session_id", r"[0-9a-f]+\.[0-9a-f]+"),
    "l": ("session_line_num", r"\d+"),
    "s": ("session_start_time", rf"{_SECOND} {_ZONE}"),
    "v": ("", r"(?:\d+/\d+)?"),
    "x": ("", r"\d*"),
    "Q": ("", r"-?\d+"),
}
_NAMES = ("user_name", "database_name")
_ESCAPE = re.compile(r"%(-?)(\d*)([A-Za-z%])")
_SEVERITY = (
    r"(?P<severity>DEBUG\d?|LOG|INFO|NOTICE|WARNING|ERROR|FATAL|PANIC|DETAIL|HINT|QUERY|CONTEXT|STATEMENT|LOCATION|"
    r"BACKTRACE):  (?:(?!AUDIT)(?P<state>[0-9A-Z]{5}): )?(?P<message>.*)$"
)


class LinePrefixError(ValueError):
    """An invalid log_line_prefix."""


def line_pattern(prefix: str) -> re.Pattern[str]:
    """Return the pattern of the first line of a message, or of one of its parts such as DETAIL.

    >>> found = line_pattern("%m [%p] %q%u@%d ").match("2026-03-01 10:00:00.123 UTC [7] ann@shop LOG:  hello")
    >>> found["process_id"], found["user_name"], found["severity"], found["message"]
    ('7', 'ann', 'LOG', 'hello')

    Raises:
        LinePrefixError: the prefix has an unknown escape, or neither %p nor %c to identify the session.
    """
    pieces: list[str] = []
    names: set[str] = set()
    optional = False
    at = 0
    for match in _ESCAPE.finditer(prefix):
        literal = prefix[at : match.start()]
        pieces.append(re.escape(literal))
        at = match.end()
        minus, width, letter = match.groups()
        if letter == "%":
            pieces.append("%")
        elif letter == "q":
            if not optional:
                pieces.append("(?:")
            optional = True
        elif letter in _ESCAPES:
            name, pattern = _ESCAPES[letter]
            if "user_name" in names and literal.endswith("@"):  # a user may be an e-mail address: the last @ divides
                pattern = pattern.replace(".", "[^@]")
            named = f"(?P<{name}>{pattern})" if name and name not in names else f"(?:{pattern})"
            names.add(name)
            pieces.append(named if not width else f"{named} *" if minus else f" *{named}")
        else:
            raise LinePrefixError(f"log_line_prefix {prefix!r}: unknown escape %{letter}")
    pieces.append(re.escape(prefix[at:]))
    if not names & {"process_id", "session_id"}:
        raise LinePrefixError(f"log_line_prefix {prefix!r} has neither %p nor %c: the session of a line is unknown")
    return re.compile("^" + "".join(pieces) + (")?" if optional else "") + _SEVERITY)


def recognise_prefix(lines: Sequence[str]) -> str | None:
    """Return the known prefix that matches most of these lines; None if none matches."""
    best, most = None, 0
    for prefix in KNOWN_PREFIXES:
        pattern = line_pattern(prefix)
        count = sum(_is_plain(pattern.match(line)) for line in lines)
        if count > most:
            best, most = prefix, count
    return best


def _is_plain(found: re.Match[str] | None) -> bool:
    """Return whether a line matches, and its user and database names do not look like parts of another prefix."""
    if found is None:
        return False
    named = found.groupdict()
    return not any(re.search(r"[\s=:\[\]]", (named.get(name) or "").replace("[unknown]", "")) for name in _NAMES)
