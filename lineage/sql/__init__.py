"""SQL text into statement lineage: parsing, the resolver and its rules, scripts, masking."""

from lineage.catalog.ddl import parse_with
from lineage.sql.budget import Budget
from lineage.sql.extraction import extract
from lineage.sql.parse.ddl import parse_ddl
from lineage.sql.scan import mask_for_parsing, mask_literals
from lineage.sql.script.script import extract_script
from lineage.sql.table_tracing import TableTrace, trace_tables

__all__ = ["Budget", "TableTrace", "extract", "extract_script", "mask_for_parsing", "mask_literals", "trace_tables"]

parse_with(parse_ddl)
