"""Procedural SQL: routine bodies, control flow, variables, dynamic SQL, batches without semicolons.

`read_program` turns the tokens into plain statements in order. All later code sees statements as in any script, with a
`ProgramStep` for the procedural context. Texts that are not procedural are not handled here.
"""

from lineage.sql.procedural.dynamic import HOLE
from lineage.sql.procedural.program_reader import is_procedural, read_program
from lineage.sql.procedural.program_steps import Block, BlockKind, FunctionBody, ProgramPiece, ProgramStep
from lineage.sql.procedural.returning import function_name, function_search_path
from lineage.sql.procedural.text.delimiters import with_semicolons
from lineage.sql.procedural.text.tokens import STRINGS, Fragment, tokenize, tokens_of
from lineage.sql.procedural.variables import Names, Variables

__all__ = [
    "HOLE",
    "STRINGS",
    "Block",
    "BlockKind",
    "Fragment",
    "FunctionBody",
    "Names",
    "ProgramPiece",
    "ProgramStep",
    "Variables",
    "function_name",
    "function_search_path",
    "is_procedural",
    "read_program",
    "tokenize",
    "tokens_of",
    "with_semicolons",
]
