"""Write the schema in GraphQL's schema definition language, for clients and reviews: `make docs`."""

from __future__ import annotations

import sys
from pathlib import Path

from lineage_graphql.schema.root import schema

__all__ = ["sdl"]


def sdl() -> str:
    """Return the schema as SDL."""
    return schema.as_str() + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(sdl(), encoding="utf-8")
