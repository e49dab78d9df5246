// Version 14: when a column was first seen; of columns from before it is not known, and no property is declared.
MATCH (m:Meta {key: 'schema'}) SET m.version = 14;
