// Version 19: plain names for what is not lineage: buffered texts of unfinished runs, and the nodes of lock stripes.
DROP CONSTRAINT held_key IF EXISTS;
DROP INDEX held_at IF EXISTS;
CREATE CONSTRAINT buffered_text_key IF NOT EXISTS FOR (n:BufferedText) REQUIRE n.key IS UNIQUE;
CREATE INDEX buffered_text_buffered_at IF NOT EXISTS FOR (n:BufferedText) ON (n.buffered_at);
MATCH (n:Held) SET n:BufferedText, n.buffered_at = n.held_at REMOVE n:Held, n.held_at;
MATCH (m:Meta) WHERE m.key STARTS WITH 'lane ' SET m.key = 'lock stripe ' + substring(m.key, 5);
MATCH (m:Meta {key: 'schema'}) SET m.version = 19;
