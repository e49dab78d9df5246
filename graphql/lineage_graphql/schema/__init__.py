"""The GraphQL schema: one file a subject, put together in `root`."""
