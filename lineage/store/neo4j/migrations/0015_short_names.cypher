// Version 15: `name` is the label in Neo4j Browser: the last part of a table's name, or TABLE.COLUMN.
MATCH (t:`Table`) SET t.full_name = coalesce(t.full_name, t.name);
MATCH (t:`Table`) SET t.name = coalesce(last([part IN split(replace(t.full_name, '/', '.'), '.') WHERE part <> '']), '');
MATCH (t:`Table`)-[:HAS_COLUMN]->(c:`Column`) SET c.name = t.name + '.' + c.path;
CREATE INDEX table_name IF NOT EXISTS FOR (n:`Table`) ON (n.name);
CREATE INDEX column_name IF NOT EXISTS FOR (n:`Column`) ON (n.name);
MATCH (m:Meta {key: 'schema'}) SET m.version = 15;
