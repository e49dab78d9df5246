// Version 5: no change in Neo4j; the embedded store adds deferred writes.
MATCH (m:Meta {key: 'schema'}) SET m.version = 5;
