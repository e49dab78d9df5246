// Version 4: no change in the embedded store; Neo4j adds the nodes that writers lock.
MATCH (m:Meta {key: 'schema'}) SET m.version = 4;
