// Version 11: a table's rows decide the rows of what reads it, and columns computed by a sub-query over it.
MATCH (m:Meta {key: 'schema'}) SET m.version = 11;
