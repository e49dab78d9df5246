"""What random warehouses leave out in the tests, since it is known to fail: the reason beside each."""

from __future__ import annotations

__all__ = ["KNOWN"]

_NAMES = "a log that comes again reads what was there before its own DDL by the columns that took its place"
_REPLACED = "a log: what reads a table of an earlier log before the log's own OR REPLACE of it"

KNOWN: dict[str, str] = {
    **dict.fromkeys(("recreate", "rebuild", "swap", "rename_table", "drop"), _NAMES),
    **dict.fromkeys(("replace", "replace_self", "temp_replace"), _REPLACED),
}
