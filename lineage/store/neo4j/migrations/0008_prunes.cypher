// Version 8: which ad-hoc lineage was pruned, and when, so that ingesting an old log again does not revive it.
CREATE CONSTRAINT prune_key IF NOT EXISTS FOR (n:Prune) REQUIRE n.key IS UNIQUE;
CREATE INDEX prune_older_than IF NOT EXISTS FOR (n:Prune) ON (n.older_than);
MATCH (m:Meta {key: 'schema'}) SET m.version = 8;
