// Version 6: what is held of something that has not ended (a run whose events are still coming), in pieces.
CREATE NODE TABLE Held (
  key STRING PRIMARY KEY, owner STRING, text STRING, parts STRING[], finished BOOL, held_at TIMESTAMP
);
MATCH (m:Meta {key: 'schema'}) SET m.version = 6;
