// Version 6: buffered data of something unfinished (a run whose events are still arriving), in pieces.
CREATE NODE TABLE Held (
  key STRING PRIMARY KEY, owner STRING, text STRING, parts STRING[], finished BOOL, held_at TIMESTAMP
);
MATCH (m:Meta {key: 'schema'}) SET m.version = 6;
