// Version 18: the last ordinal of a removed column; unknown for older columns.
MATCH (m:Meta {key: 'schema'}) SET m.version = 18;
