"""Prints the data model of a .pbix file as JSON: run as a process of its own, whose memory and time are limited.

A damaged file can crash the decompression, or expand without end; here that ends this process only.
"""

from __future__ import annotations

import json
import sys
from typing import Any

__all__ = ["main"]

_MEMORY = 4 * 1024**3
"""Bytes of address space."""


def main(path: str) -> None:
    """Print the tables, columns, measures and M queries of the file's model."""
    _limit_memory()
    from pbixray import PBIXRay  # type: ignore[import-untyped]  # noqa: PLC0415  after the limit

    parts: dict[str, Any] = {}
    try:
        model = PBIXRay(path, on_disk=True)
    except Exception as error:  # noqa: BLE001  whatever the reader raises: the file cannot be read
        is_live = type(error).__name__ == "LiveConnectionError"
        parts = {"error": type(error).__name__, "live": is_live}
    else:
        for name, read in (
            ("columns", lambda: _rows(model.tmschema_columns)),
            ("schema", lambda: _rows(model.schema)),
            ("queries", lambda: _rows(model.power_query)),
            ("measures", lambda: _rows(model.dax_measures)),
            ("calculated", lambda: _rows(model.dax_columns)),
            ("calculated_tables", lambda: _rows(model.dax_tables)),
            ("relationships", lambda: _rows(model.relationships)),
            ("row_filters", lambda: _rows(model.rls)),
            ("calculation_groups", lambda: _rows(model.tmschema_calculation_groups)),
            ("levels", lambda: _rows(model.tmschema_levels)),
            ("parameters", lambda: _rows(model.m_parameters)),
            ("mashup", lambda: [{"name": one.name, "expression": one.expression} for one in model.data_mashup.queries]
             if model.data_mashup is not None else []),
        ):  # fmt: skip
            try:
                parts[name] = read()  # type: ignore[no-untyped-call]
            except Exception as error:  # noqa: BLE001  one part that cannot be read does not lose the others
                parts.setdefault("unread", []).append(f"{name} ({type(error).__name__})")
    json.dump(parts, sys.stdout, default=str)


def _rows(frame: Any) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return listed


def _limit_memory() -> None:
    try:
        import resource  # noqa: PLC0415  not on Windows
    except ModuleNotFoundError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


if __name__ == "__main__":
    main(sys.argv[1])
