"""Global object ids of the Relay specification: opaque strings that identify any node of the graph."""

from __future__ import annotations

import base64
import binascii
from enum import StrEnum

import strawberry

from lineage.model.text.json_values import find_unstorable
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.schema.fields import doc_field

__all__ = ["Node", "NodeKind", "global_id", "parse_global_id"]


@strawberry.interface(description="An object with a global id, which `node` refetches.")
class Node:
    """An object with a global id."""

    id: strawberry.ID = doc_field("Global id: opaque, and stable as long as the object keeps its name.")


class NodeKind(StrEnum):
    """The kinds of object that a global id identifies."""

    TABLE = "Table"
    COLUMN = "Column"
    JOB = "Job"
    RUN = "Run"


def global_id(kind: NodeKind, key: str) -> strawberry.ID:
    """Return the global id of a node by its key in the graph.

    >>> global_id(NodeKind.TABLE, "pg/shop.orders")
    'VGFibGU6cGcvc2hvcC5vcmRlcnM'
    """
    return strawberry.ID(base64.urlsafe_b64encode(f"{kind}:{key}".encode()).decode().rstrip("="))


def parse_global_id(text: str) -> tuple[NodeKind, str]:
    """Return the kind and the key that a global id encodes.

    >>> parse_global_id("VGFibGU6cGcvc2hvcC5vcmRlcnM")
    (<NodeKind.TABLE: 'Table'>, 'pg/shop.orders')

    Raises:
        RefusedError: it is not a global id.
    """
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        kind, colon, key = base64.b64decode(padded, b"-_", validate=True).decode().partition(":")
        found = NodeKind(kind)
    except (ValueError, binascii.Error):
        raise _no_id(text) from None
    if not colon or find_unstorable(key) is not None or global_id(found, key) != text:
        raise _no_id(text)
    return found, key


def _no_id(text: str) -> RefusedError:
    shown = text if len(text) <= 100 else f"{text[:100]}…"
    return RefusedError(ErrorCode.BAD_ARGUMENT, f"{shown!r} is not a global id", "give the `id` of a node")
