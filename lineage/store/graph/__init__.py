"""What both databases that hold the graph share: Neo4j and the embedded file."""
