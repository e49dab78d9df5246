// Version 14: when a column was first seen; unknown for older columns. Properties need no declaration.
MATCH (m:Meta {key: 'schema'}) SET m.version = 14;
