// Version 11: a table's rows influence the rows of tables derived from it, and columns computed by a sub-query over it.
MATCH (m:Meta {key: 'schema'}) SET m.version = 11;
