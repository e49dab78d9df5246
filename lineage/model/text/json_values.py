"""Find JSON values that a store cannot keep: unpaired surrogates, and values that are nested too deeply."""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["find_unstorable"]

_Path: TypeAlias = "tuple[_Path, str | int] | None"


def find_unstorable(value: Any, max_depth: int = 200) -> tuple[str, str] | None:
    """Return the position (a JSON pointer) of a value that cannot be stored, and why; None if all values can be stored.

    >>> find_unstorable({"a": ["x", "\\ud83d"]})
    ('/a/1', 'an unpaired surrogate, which is not valid Unicode')
    >>> find_unstorable([[[]]], max_depth=2)
    ('/0/0', 'nested deeper than 2 levels')
    """
    if isinstance(value, str):
        return None if _is_unicode(value) else ("", _UNPAIRED)
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
                return _pointer(path), f"a name with {_UNPAIRED}"
            if isinstance(part, str):
                if not (part.isascii() or _is_unicode(part)):
                    return _pointer((path, name)), _UNPAIRED
            elif isinstance(part, dict | list):
                containers.append((part, depth + 1, (path, name)))
    return None


_UNPAIRED = "an unpaired surrogate, which is not valid Unicode"


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
