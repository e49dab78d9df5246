"""The parts of a template: its settings, its comments, and the blocks that depend on what is not known."""

from __future__ import annotations

import re

__all__ = ["control_blocks", "without_comments", "without_settings"]

_JINJA_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
_TEXTS = re.compile(r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|(--[^\n]*|/\*.*?\*/)", re.DOTALL)
_CONFIG = re.compile(r"\{\{[-+]?\s*config\s*\(")
_TOKENS = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[-+]?\}\}", re.DOTALL)
_TAG = re.compile(r"\{%[-+]?\s*(end)?(if|for|call|macro|filter|set|do)\b(.*?)%\}", re.DOTALL)
_ASSIGNS = re.compile(r"(?<![=!<>])=(?!=)")


def without_comments(text: str) -> str:
    """Return a template without comments of Jinja and SQL, and with single spaces.

    >>> without_comments("select a, -- it's a\\n '--' as b {# note #} from t")
    "select a, '--' as b from t"
    """
    kept = _TEXTS.sub(lambda match: " " if match[1] else match[0], _JINJA_COMMENT.sub(" ", text))
    return " ".join(kept.split())


def without_settings(text: str) -> str:
    """Return a template without its calls of `config`, whose values the manifest has.

    >>> without_settings("{{ config(tags=['}}']) }}select 1")
    ' select 1'
    """
    while (match := _CONFIG.search(text)) is not None:
        ends = (token.end() for token in _TOKENS.finditer(text, match.end()) if token[0].endswith("}}"))
        text = f"{text[: match.start()]} {text[next(ends, len(text)) :]}"
    return text


def control_blocks(text: str) -> list[str]:
    """Return the outermost blocks of control structures, and the tags that assign or do something.

    >>> control_blocks("select a {% for x in y %}, {% if x %}b{% endif %}{% endfor %} from t {% set z = 1 %}")
    ['{% for x in y %}, {% if x %}b{% endif %}{% endfor %}', '{% set z = 1 %}']
    """
    blocks: list[str] = []
    depth, start = 0, 0
    for tag in _TAG.finditer(text):
        is_whole = tag[2] == "do" or (tag[2] == "set" and not tag[1] and _ASSIGNS.search(tag[3]) is not None)
        if is_whole:
            if not depth:
                blocks.append(tag[0])
        elif not tag[1]:
            start = start if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                blocks.append(text[start : tag.end()])
    return [*blocks, text[start:]] if depth else blocks
