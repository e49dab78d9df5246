// Version 8: which ad-hoc lineage was pruned, and when, so that ingesting an old log again does not revive it.
CREATE NODE TABLE Prune (key STRING PRIMARY KEY, older_than TIMESTAMP, at TIMESTAMP);
MATCH (m:Meta {key: 'schema'}) SET m.version = 8;
