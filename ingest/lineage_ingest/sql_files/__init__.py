"""SQL files as a way in: found, decoded, resolved against each other, stored."""

from lineage_ingest.sql_files.ingest import IngestSummary, ingest_sql_files
from lineage_ingest.sql_files.reading import NoSqlFilesError, SqlFile, find_sql_files, read_sql_file

__all__ = ["IngestSummary", "NoSqlFilesError", "SqlFile", "find_sql_files", "ingest_sql_files", "read_sql_file"]
