"""Values of other fields that the HTML and the links of a field show: `html: {{ value }} {{ users.email._value }} ;;`.

https://cloud.google.com/looker/docs/liquid-variable-reference
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.text.name_lists import name_list
from lineage_ingest.bi.json_objects import objects_in
from lineage_ingest.bi.lookml.lookml_project import FIELD_LISTS

__all__ = ["shown_elsewhere"]

_VALUE = re.compile(r"\b((?:\w+\.)?\w+)\._(?:raw_|rendered_|linked_)?value\b|\brow\[\s*['\"]([\w.]+)['\"]\s*\]")


def shown_elsewhere(view: str, definition: Mapping[str, Any]) -> list[Diagnostic]:
    """Return what fields of a view show of other fields by their HTML or a link: their SQL does not read it."""
    mentions: dict[str, None] = {}
    for kind in FIELD_LISTS:
        for field in objects_in(definition.get(kind)):
            texts = [field.get("html"), *(link.get("url") for link in objects_in(field.get("links")))]
            for text in texts:
                for pair in _VALUE.findall(text) if isinstance(text, str) else ():
                    name = (pair[0] or pair[1]).removeprefix(f"{view}.")
                    if name != field.get("name"):
                        mentions[f"{name} in {field.get('name')}"] = None
    if not mentions:
        return []
    message = (
        f"HTML or links of {view} show values of other fields ({name_list(list(mentions), 5)}): that is not followed"
    )
    return [Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.INFO, message)]
