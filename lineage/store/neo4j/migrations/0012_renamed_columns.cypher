// Version 12: renamed columns and their earlier names. Properties need no declaration.
MATCH (m:Meta {key: 'schema'}) SET m.version = 12;
