// Version 1: unique keys, indexes for other lookups, and the nodes that writers lock.
CREATE CONSTRAINT meta_key IF NOT EXISTS FOR (n:Meta) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT table_key IF NOT EXISTS FOR (n:`Table`) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT column_key IF NOT EXISTS FOR (n:`Column`) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT job_key IF NOT EXISTS FOR (n:Job) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT run_key IF NOT EXISTS FOR (n:Run) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT change_key IF NOT EXISTS FOR (n:Change) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT diagnostic_key IF NOT EXISTS FOR (n:Diagnostic) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT usage_key IF NOT EXISTS FOR (n:Usage) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT prune_key IF NOT EXISTS FOR (n:Prune) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT tag_key IF NOT EXISTS FOR (n:Tag) REQUIRE n.key IS UNIQUE;
CREATE INDEX tag_subject IF NOT EXISTS FOR (n:Tag) ON (n.subject);
CREATE CONSTRAINT buffered_text_key IF NOT EXISTS FOR (n:BufferedText) REQUIRE n.key IS UNIQUE;
CREATE INDEX job_source IF NOT EXISTS FOR (n:Job) ON (n.source);
CREATE INDEX job_kind IF NOT EXISTS FOR (n:Job) ON (n.kind);
CREATE INDEX job_file_key IF NOT EXISTS FOR (n:Job) ON (n.file_key);
CREATE INDEX run_last_seen IF NOT EXISTS FOR (n:Run) ON (n.last_seen);
CREATE INDEX change_at IF NOT EXISTS FOR (n:Change) ON (n.at);
CREATE INDEX diagnostic_source IF NOT EXISTS FOR (n:Diagnostic) ON (n.source);
CREATE INDEX diagnostic_file_key IF NOT EXISTS FOR (n:Diagnostic) ON (n.file_key);
CREATE INDEX prune_older_than IF NOT EXISTS FOR (n:Prune) ON (n.older_than);
CREATE INDEX buffered_text_buffered_at IF NOT EXISTS FOR (n:BufferedText) ON (n.buffered_at);
CREATE INDEX graph_change_place IF NOT EXISTS FOR (n:GraphChange) ON (n.place);
// `search` is the lower-case name by which datasets and columns are looked up, `name` the label in Neo4j Browser.
CREATE INDEX table_search IF NOT EXISTS FOR (n:`Table`) ON (n.search);
CREATE TEXT INDEX table_search_text IF NOT EXISTS FOR (n:`Table`) ON (n.search);
CREATE TEXT INDEX column_search_text IF NOT EXISTS FOR (n:`Column`) ON (n.search);
CREATE INDEX table_name IF NOT EXISTS FOR (n:`Table`) ON (n.name);
CREATE INDEX column_name IF NOT EXISTS FOR (n:`Column`) ON (n.name);
// Writers of different stripes write at the same time.
UNWIND range(0, 15) AS stripe MERGE (m:Meta {key: 'lock stripe ' + toString(stripe)}) SET m.version = 0;
// Cypher warns about names that the database has never had: these are in the queries that people type.
CALL db.createProperty('dropped_at');
CALL db.createRelationshipType('CONTRIBUTES');
CALL db.createRelationshipType('REFERENCES');
CALL db.createRelationshipType('HAS_COLUMN');
MERGE (m:Meta {key: 'schema'}) SET m.version = 1;
