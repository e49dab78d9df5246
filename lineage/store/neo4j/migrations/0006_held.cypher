// Version 6: what is held of something that has not ended (a run whose events are still coming), in pieces.
CREATE CONSTRAINT held_key IF NOT EXISTS FOR (n:Held) REQUIRE n.key IS UNIQUE;
CREATE INDEX held_at IF NOT EXISTS FOR (n:Held) ON (n.held_at);
MATCH (m:Meta {key: 'schema'}) SET m.version = 6;
