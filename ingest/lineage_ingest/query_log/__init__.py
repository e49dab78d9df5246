"""Query logs: the history of a warehouse's statements, from any source, as rows of one schema."""

from typing import TYPE_CHECKING

from lineage.lazy_names import lazy_names

if TYPE_CHECKING:
    from lineage_ingest.query_log.log_schema import LOG_SCHEMA, Problem, Status
    from lineage_ingest.query_log.reading.log_files import NoLogFilesError, find_log_files
    from lineage_ingest.query_log.reading.log_reader import read_log, read_log_file, read_messages
    from lineage_ingest.query_log.reading.normalization import assemble_rows, normalize_rows
    from lineage_ingest.query_log.sources import (
        SOURCES,
        ColumnsMissingError,
        MappingError,
        NotOverJdbcError,
        Source,
        UnknownSourceError,
        source_named,
    )

_MODULES = {
    "ColumnsMissingError": "sources",
    "LOG_SCHEMA": "log_schema",
    "MappingError": "sources",
    "NoLogFilesError": "reading.log_files",
    "NotOverJdbcError": "sources",
    "Problem": "log_schema",
    "SOURCES": "sources",
    "Source": "sources",
    "Status": "log_schema",
    "UnknownSourceError": "sources",
    "assemble_rows": "reading.normalization",
    "find_log_files": "reading.log_files",
    "normalize_rows": "reading.normalization",
    "read_log": "reading.log_reader",
    "read_log_file": "reading.log_reader",
    "read_messages": "reading.log_reader",
    "source_named": "sources",
}

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

__getattr__, __dir__ = lazy_names(__name__, _MODULES)
