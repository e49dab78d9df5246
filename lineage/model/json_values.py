"""What JSON can spell and a store cannot keep: half a surrogate pair, and values that are nested very deeply."""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["find_unstorable"]

_Path: TypeAlias = "tuple[_Path, str | int] | None"


def find_unstorable(value: Any, max_depth: int = 200) -> tuple[str, str] | None:
    """Return where in a JSON value (a JSON pointer) something cannot be stored, and why; None where all can.

    >>> find_unstorable({"a": ["x", "\\ud83d"]})
    ('/a/1', 'half a surrogate pair, which is no Unicode text')
    >>> find_unstorable([[[]]], max_depth=2)
    ('/0/0', 'nested deeper than 2 levels')
    """
    if isinstance(value, str):
        return None if _is_unicode(value) else ("", _HALF)
    containers: list[tuple[Any, int, _Path]] = [(value, 1, None)]
    while containers:
        container, depth, path = containers.pop()
        is_object = isinstance(container, dict)
        if not is_object and not isinstance(container, list):
            continue
        if depth > max_depth:
            return _pointer(path), f"nested deeper than {max_depth} levels"
        for name, part in container.items() if is_object else enumerate(container):
            if isinstance(name, str) and not (name.isascii() or _is_unicode(name)):
                return _pointer(path), f"a name with {_HALF}"
            if isinstance(part, str):
                if not (part.isascii() or _is_unicode(part)):
                    return _pointer((path, name)), _HALF
            elif isinstance(part, dict | list):
                containers.append((part, depth + 1, (path, name)))
    return None


_HALF = "half a surrogate pair, which is no Unicode text"


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _pointer(path: _Path) -> str:
    parts: list[str] = []
    while path is not None:
        path, name = path
        parts.append(str(name).replace("~", "~0").replace("/", "~1"))
    return "".join(f"/{part}" for part in reversed(parts))
