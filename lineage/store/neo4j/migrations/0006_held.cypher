// Version 6: buffered data of something unfinished (a run whose events are still arriving), in pieces.
CREATE CONSTRAINT held_key IF NOT EXISTS FOR (n:Held) REQUIRE n.key IS UNIQUE;
CREATE INDEX held_at IF NOT EXISTS FOR (n:Held) ON (n.held_at);
MATCH (m:Meta {key: 'schema'}) SET m.version = 6;
