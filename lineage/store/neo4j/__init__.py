"""The Neo4j store, and a real Neo4j server for machines without Docker."""
