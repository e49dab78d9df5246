// Version 15: `name` is a short label: the last part of a table's name, or TABLE.COLUMN.
ALTER TABLE `Table` ADD full_name STRING;
MATCH (t:`Table`) SET t.full_name = t.name;
MATCH (t:`Table`) SET t.name = list_extract(string_split(replace(t.full_name, '/', '.'), '.'), -1);
MATCH (t:`Table`)-[:HAS_COLUMN]->(c:`Column`) SET c.name = t.name + '.' + c.path;
MATCH (m:Meta {key: 'schema'}) SET m.version = 15;
