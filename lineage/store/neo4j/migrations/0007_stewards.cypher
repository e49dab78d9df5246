// Version 7: annotations of tables and columns by data stewards. Properties need no declaration.
MATCH (m:Meta {key: 'schema'}) SET m.version = 7;
