"""The state of a session: schemas, transactions, temporary tables."""
