"""Random warehouses: scripts and logs over several schemas, run on DuckDB and asked about in a store."""
