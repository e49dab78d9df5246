"""Names in strings: replace `IDENTIFIER('db.s.t')` and Snowflake's `TABLE('t')` by the names in the strings.

https://docs.snowflake.com/en/sql-reference/identifier-literal
https://docs.databricks.com/en/sql/language-manual/sql-ref-names-identifier-clause.html
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from lineage.model.dialect import Dialect
from lineage.model.names import split_name

__all__ = ["has_names_in_text", "name_by_text"]

_ARGS = ("this", "db", "catalog")


def has_names_in_text(tokens: Sequence[Token], dialect: Dialect, written: str | None = None) -> bool:
    """Return whether a statement may have names in strings; `written` is its text, if its tokens are contiguous."""
    if not dialect.names_in_strings:
        return False
    if written is not None:  # much faster than checking each token
        words = written.upper()
        if "IDENTIFIER" not in words and "TABLE" not in words:
            return False
    before = ""
    for token in tokens:
        word = token.text.upper()
        if word == "(" and before in ("IDENTIFIER", "TABLE"):
            return True
        before = word
    return False


def name_by_text(tree: exp.Expr) -> tuple[exp.Expr, bool]:
    """Return the tree with these strings replaced by names, and whether any name is known at run time only."""
    unknown = False
    for node in list(tree.find_all(exp.DynamicIdentifier, exp.Anonymous, exp.TableFromRows)):
        said = _name_argument(node)
        if said is None:
            continue
        if not (isinstance(said, exp.Literal) and said.is_string):
            unknown = True
            continue
        parts = [_identifier(text, said, quoted=quoted) for text, quoted in split_name(said.name)]
        holder = node.parent
        if isinstance(holder, exp.Table) and holder.this is node:
            for name, part in zip(_ARGS, reversed(parts), strict=False):
                holder.set(name, part)
        elif isinstance(node, exp.TableFromRows):
            rest = {key: value for key, value in node.args.items() if key != "this"}
            named = dict(zip(_ARGS, reversed(parts), strict=False))
            node.replace(exp.Table(**named, **rest))
        else:
            named = dict(zip(("this", "table", "db", "catalog"), reversed(parts), strict=False))
            node.replace(exp.Column(**named))
    return tree, unknown


def _name_argument(node: exp.Expr) -> exp.Expr | None:
    """Return the expression that holds the name; None if the node is not such a call."""
    if isinstance(node, exp.Anonymous):
        is_form = str(node.this).upper() == "IDENTIFIER" and len(node.expressions) == 1
        return node.expressions[0] if is_form else None
    if isinstance(node, exp.TableFromRows):
        return node.this if isinstance(node.this, exp.Literal | exp.Parameter | exp.Placeholder) else None
    found: exp.Expr | None = node.this
    return found


def _identifier(text: str, literal: exp.Expr, *, quoted: bool) -> exp.Identifier:
    made = exp.Identifier(this=text, quoted=quoted)
    made.meta.update(literal.meta)
    return made
