"""Writes the schema in GraphQL's own language, for clients and for reviews: `make docs`."""

from __future__ import annotations

import sys
from pathlib import Path

from lineage_graphql.schema.root import schema

__all__ = ["sdl"]


def sdl() -> str:
    """Return the schema's text."""
    return schema.as_str() + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(sdl(), encoding="utf-8")
