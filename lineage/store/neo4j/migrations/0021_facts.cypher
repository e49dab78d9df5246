// Version 21: facts that sources state of tables and columns, and the tags among them; unknown for older ones.
MATCH (m:Meta {key: 'schema'}) SET m.version = 21;
