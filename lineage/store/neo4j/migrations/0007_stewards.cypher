// Version 7: what stewards say of tables and columns; properties need no declaration.
MATCH (m:Meta {key: 'schema'}) SET m.version = 7;
