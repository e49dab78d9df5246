"""What random warehouses leave out in the tests, since it is known to fail: the reason beside each."""

from __future__ import annotations

__all__ = ["KNOWN"]

_NAMES = "a log: a name that is given away and taken again; a table that another session drops after it was read"
_REPLACED = "a log: what is read by a temporary table before it is replaced, and used after that"

KNOWN: dict[str, str] = {
    **dict.fromkeys(("recreate", "rebuild", "swap", "rename_table", "drop"), _NAMES),
    **dict.fromkeys(("replace", "replace_self", "temp_replace"), _REPLACED),
}
