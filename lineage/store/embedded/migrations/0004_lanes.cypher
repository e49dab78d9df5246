// Version 4: nothing new here; in Neo4j it brings what writers lock.
MATCH (m:Meta {key: 'schema'}) SET m.version = 4;
