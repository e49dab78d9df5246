"""PostgreSQL's logs."""
