"""A page about the REST routes, rendered from their OpenAPI description as HTML without scripts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

__all__ = ["DOCS_STYLE", "docs_page"]

DOCS_STYLE = """
body { font-family: system-ui, sans-serif; line-height: 1.5; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
code, pre { background: #f3f3f3; border-radius: 4px; padding: 0.1rem 0.3rem; }
pre { overflow: auto; padding: 0.8rem; }
h2 { border-top: 1px solid #ccc; margin-top: 2rem; padding-top: 1rem; }
td { padding: 0.1rem 1rem 0.1rem 0; vertical-align: top; }
"""

_VERBS = ("get", "post", "put", "patch", "delete")


def docs_page(openapi: Mapping[str, Any]) -> str:
    """Return the page for an OpenAPI description."""
    title = escape(openapi["info"]["title"])
    parts = [
        f"<h1>{title} {escape(openapi['info']['version'])}</h1>",
        f"<p>{escape(openapi['info'].get('description', ''))}</p>",
        '<p>The description for programs: <a href="openapi.json">openapi.json</a>.</p>',
    ]
    for path, operations in openapi["paths"].items():
        for verb in _VERBS:
            if verb in operations:
                parts += _operation(path, verb, operations[verb])
    for name, schema in openapi.get("components", {}).get("schemas", {}).items():
        parts.append(f'<h2 id="{escape(name)}">{escape(name)}</h2>{_json(schema)}')
    body = "\n".join(parts)
    head = f'<meta charset="utf-8"><title>{title}</title><link rel="icon" href="data:,"><style>{DOCS_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def _operation(path: str, verb: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h2><code>{verb.upper()} {escape(path)}</code></h2>"
    yield f"<p>{escape(operation.get('description') or operation.get('summary', ''))}</p>"
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"<h3>Body: {escape(kind)}</h3>{_json(content.get('schema', {}))}"
    rows = "".join(
        f"<tr><td>{escape(str(status))}</td><td>{escape(answer.get('description', ''))}</td></tr>"
        for status, answer in operation.get("responses", {}).items()
    )
    yield f"<table>{rows}</table>"


def _json(value: object) -> str:
    return f"<pre>{escape(json.dumps(value, indent=2))}</pre>"
