"""The service: GraphQL over a store, OpenLineage events in, safe by default."""
