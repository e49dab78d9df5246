"""Values as indented JSON."""

from __future__ import annotations

import json
from typing import Any

import msgspec

__all__ = ["json_text"]


def json_text(value: Any) -> str:
    """Return the text of `json.dumps(value, indent=2)`; values that JSON does not have are written as strings.

    Large outputs have a million values. `json` writes a line in C, and an indented text in Python, at a third of the
    speed.

    >>> print(json_text({"a": [1, None], "b": {}}))
    {
      "a": [
        1,
        null
      ],
      "b": {}
    }
    """
    line = json.dumps(value, default=str, separators=(",", ":"))
    try:
        return msgspec.json.format(line, indent=2)
    except msgspec.DecodeError:  # NaN and infinities
        return json.dumps(value, default=str, indent=2)
