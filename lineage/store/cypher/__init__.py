"""What the stores that are asked in Cypher share: Neo4j and the embedded one."""
