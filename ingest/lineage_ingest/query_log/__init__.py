"""Query logs: the history of a warehouse's statements, from any source, as rows of one schema."""

from lineage_ingest.query_log.log_files import NoLogFilesError, find_log_files
from lineage_ingest.query_log.log_reader import (
    read_log,
    read_log_file,
    read_messages,
)
from lineage_ingest.query_log.log_schema import LOG_SCHEMA, Problem, Status
from lineage_ingest.query_log.normalization import assemble_rows, normalize_rows
from lineage_ingest.query_log.sources import (
    SOURCES,
    ColumnsMissingError,
    MappingError,
    NotOverJdbcError,
    Source,
    UnknownSourceError,
    source_named,
)

__all__ = [
    "ColumnsMissingError",
    "LOG_SCHEMA",
    "MappingError",
    "NoLogFilesError",
    "NotOverJdbcError",
    "Problem",
    "SOURCES",
    "Source",
    "Status",
    "UnknownSourceError",
    "assemble_rows",
    "find_log_files",
    "normalize_rows",
    "read_log",
    "read_log_file",
    "read_messages",
    "source_named",
]
