"""The fields by which a measure, an explore or a native derived table is filtered.

https://cloud.google.com/looker/docs/reference/param-field-filters
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["filter_fields"]


def filter_fields(definition: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields of the parameter `filters`, in both of its forms.

    The parser returns `filters: [a: "1", b: "2"]` as `filters__all`, the older `filters: {field: a value: "1"}` as
    `filters`.

    >>> list(filter_fields({"filters__all": [[{"a": "1"}, {"b": "2"}]], "filters": [{"field": "c", "value": "3"}]}))
    ['a', 'b', 'c']
    """
    for group in (*(definition.get("filters__all") or ()), *(definition.get("filters") or ())):
        for one in group if isinstance(group, list) else [group]:
            if isinstance(one, Mapping):
                yield from ([str(one["field"])] if "field" in one else map(str, one))
