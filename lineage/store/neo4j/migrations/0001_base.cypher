// Version 1: unique keys, and indexes for other lookups.
CREATE CONSTRAINT meta_key IF NOT EXISTS FOR (n:Meta) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT table_key IF NOT EXISTS FOR (n:`Table`) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT column_key IF NOT EXISTS FOR (n:`Column`) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT job_key IF NOT EXISTS FOR (n:Job) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT run_key IF NOT EXISTS FOR (n:Run) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT change_key IF NOT EXISTS FOR (n:Change) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT diagnostic_key IF NOT EXISTS FOR (n:Diagnostic) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT usage_key IF NOT EXISTS FOR (n:Usage) REQUIRE n.key IS UNIQUE;
CREATE INDEX job_source IF NOT EXISTS FOR (n:Job) ON (n.source);
CREATE INDEX job_kind IF NOT EXISTS FOR (n:Job) ON (n.kind);
CREATE INDEX run_last_seen IF NOT EXISTS FOR (n:Run) ON (n.last_seen);
CREATE INDEX change_at IF NOT EXISTS FOR (n:Change) ON (n.at);
CREATE INDEX diagnostic_source IF NOT EXISTS FOR (n:Diagnostic) ON (n.source);
MERGE (m:Meta {key: 'schema'}) SET m.version = 1;
