"""Control flow: BEGIN, IF, CASE, loops and handlers are reduced to the blocks that contain the statements."""

from __future__ import annotations

from lineage.sql.procedural.assignments import QUERIES
from lineage.sql.procedural.bodies import execute_from
from lineage.sql.procedural.declarations import open_with_arguments
from lineage.sql.procedural.program_steps import BlockKind
from lineage.sql.procedural.text.statement_ends import CONDITION_ENDS
from lineage.sql.procedural.walk import Walk, head

_TRANSACTION = frozenset(
    ("TRANSACTION", "TRAN", "WORK", "ISOLATION", "READ", "DEFERRED", "IMMEDIATE", "EXCLUSIVE", "NAME", "DISTRIBUTED",
     "CONCURRENT")
)  # fmt: skip
_BLOCK_NAMES = frozenset(("IF", "LOOP", "WHILE", "FOR", "REPEAT", "CASE", "TRY", "CATCH"))


@head("BEGIN")
def begin(walk: Walk, position: int) -> int | None:
    """BEGIN of a block; BEGIN of a transaction is a plain statement."""
    after = walk.word(position + 1)
    section = bool(walk.frames) and walk.frames[-1].kind == "section"
    if section:
        walk.frames[-1].kind = "begin"
    elif after in _TRANSACTION or (after in (";", "") and not walk.inside()):
        return None
    elif after in ("TRY", "CATCH"):
        walk.open("begin", BlockKind.BRANCH if after == "CATCH" else None)
        return position + 2
    else:
        walk.open("begin")
    skip = position + 1
    while walk.word(skip) in ("NOT", "ATOMIC"):
        skip += 1
    if walk.words[skip - 1] == "ATOMIC" and walk.word(skip) == "WITH":  # T-SQL's natively compiled procedures
        skip = walk.close(skip + 1) + 1
    return skip


@head("END")
def end_of_block(walk: Walk, position: int) -> int | None:
    """END, with the kind and name of the block."""
    if not walk.frames:
        return None if not walk.no_semicolons else position + 1
    after = position + 1
    if walk.word(after) in _BLOCK_NAMES and not (walk.no_semicolons and walk.word(after) in ("IF", "WHILE")):
        after += 1
    if not walk.no_semicolons and walk.word(after) not in (";", "") and walk.word(after + 1) in (";", "", "/"):
        after += 1  # the block's name again
    while walk.frames and walk.frames[-1].single:
        walk.frames.pop()
    if walk.frames and not walk.frames[-1].batch:
        walk.frames.pop()
    if not walk.no_semicolons and walk.word(after) == ";":
        after += 1
    return walk.after(after)


@head("IF", "ELSEIF", "ELSIF")
def branch_if(walk: Walk, position: int) -> int | None:
    """IF and ELSIF up to THEN; in T-SQL up to the conditional statement."""
    if walk.no_semicolons:
        end = walk.find(position + 1, CONDITION_ENDS | {";"})
        walk.condition(position + 1, end, "IF")
        walk.open("if", BlockKind.BRANCH, single=True)
        return end
    end = walk.find(position + 1, ("THEN",))
    if end == len(walk.words):
        return None
    walk.condition(position + 1, end, "IF")
    if walk.words[position] == "IF":
        walk.open("if", BlockKind.BRANCH)
    else:
        walk.branch()
    return end + 1


@head("ELSE")
def branch_else(walk: Walk, position: int) -> int | None:
    """ELSE: the next branch of the block."""
    if not walk.frames:
        return None
    walk.branch()
    return position + 1


@head("WHEN")
def when(walk: Walk, position: int) -> int | None:
    """WHEN: a branch of a CASE statement, or an exception handler."""
    end = walk.find(position + 1, ("THEN",))
    if not walk.frames or end == len(walk.words):
        return None
    walk.condition(position + 1, end, "CASE")
    walk.branch()
    return end + 1


@head("CASE")
def case(walk: Walk, position: int) -> int | None:
    """A CASE statement; a CASE expression never begins a statement."""
    first = walk.find(position + 1, ("WHEN",))
    if not walk.inside() or first == len(walk.words):
        return None
    walk.condition(position + 1, first, "CASE")
    walk.open("case", BlockKind.BRANCH)
    return first


@head("EXCEPTION")
def handlers(walk: Walk, position: int) -> int | None:
    """EXCEPTION: the handlers up to END."""
    if not walk.frames or walk.word(position + 1) not in ("WHEN", ";"):
        return None
    walk.branch()
    return position + 1


@head("LOOP", "REPEAT")
def loop(walk: Walk, position: int) -> int | None:
    """LOOP and REPEAT, which have no condition at the start."""
    if walk.no_semicolons or (walk.word(position + 1) in ("(", "TABLE", "=", ":=") and walk.words[position] != "LOOP"):
        return None
    walk.open("loop", BlockKind.LOOP)
    return position + 1


@head("WHILE")
def loop_while(walk: Walk, position: int) -> int | None:
    """WHILE: its condition is evaluated in every iteration."""
    if walk.no_semicolons:
        end = walk.find(position + 1, CONDITION_ENDS | {";"})
        walk.open("while", BlockKind.LOOP, single=True)
        walk.condition(position + 1, end, "WHILE")
        return end
    end = walk.find(position + 1, ("LOOP", "DO"))
    if end == len(walk.words):
        return None
    walk.open("loop", BlockKind.LOOP)
    walk.condition(position + 1, end, "WHILE")
    return end + 1


@head("UNTIL")
def until(walk: Walk, position: int) -> int | None:
    """UNTIL, the condition at the end of REPEAT."""
    end = walk.find(position + 1, ("END",))
    if not walk.frames or end == len(walk.words):
        return None
    walk.condition(position + 1, end, "UNTIL")
    return end


@head("FOR", "FOREACH", "FORALL")
def loop_for(walk: Walk, position: int) -> int | None:
    """`FOR r IN query LOOP`, `FOR r AS query DO`, `FOR query DO`, `FOR i IN 1..n LOOP`, FOREACH, FORALL."""
    if walk.dialect.loops_show_columns and (after := _query_of_loop(walk, position)) is not None:
        return after
    name, after = walk.names.read(walk.tokens, walk.words, position + 1)
    if name is None:
        return None
    while walk.word(after) == ",":
        _, after = walk.names.read(walk.tokens, walk.words, after + 1)
    if walk.word(after) == "SLICE":
        after += 2
    if walk.word(after) == "AS" or walk.word(after) == "IN":
        after += 1
    else:
        return None
    if walk.words[position] == "FORALL":
        return walk.find(after, ("INSERT", "UPDATE", "DELETE", "MERGE", "EXECUTE"))
    end = walk.find(after, ("LOOP", "DO"))
    if end == len(walk.words):
        return None
    walk.open("loop", BlockKind.LOOP)
    after += walk.word(after) in ("REVERSE", "ARRAY")
    if walk.word(after) == "EXECUTE":
        execute_from(walk, after, end, [name])
    elif walk.word(after) in QUERIES:
        walk.query_into("FOR", [name], walk.tokens[after:end], is_row=True)
    elif ".." not in "".join(walk.words[after:end]) and _is_name_only(walk, after, end):
        open_with_arguments(walk, walk.names.fold(walk.tokens[after].text), after + 1)
        walk.query_into("FOR", [name], walk.from_cursor(after), is_row=True)
    elif walk.words[position] == "FOREACH":
        walk.assign("FOR", [name], [walk.tokens[after:end]])
    else:
        walk.assign("FOR", [name], [])
    return end + 1


def _query_of_loop(walk: Walk, position: int) -> int | None:
    """Read Spark's `FOR query DO` or `FOR r AS query DO`, whose columns are variables; return the position after DO."""
    after = position + 1
    name = None
    if walk.word(after + 1) == "AS" and walk.word(after + 2) in QUERIES:
        name, after = walk.names.read(walk.tokens, walk.words, after)
        after += 1
    end = walk.find(after, ("DO",))
    if walk.word(after) not in QUERIES or end == len(walk.words):
        return None
    walk.open("loop", BlockKind.LOOP)
    name = name or f"for_{walk.blocks()[-1].number}"
    walk.query_into("FOR", [name], walk.tokens[after:end], is_row=True, shows_columns=True)
    return end + 1


def _is_name_only(walk: Walk, start: int, end: int) -> bool:
    return end == start + 1 or walk.word(start + 1) == "("
