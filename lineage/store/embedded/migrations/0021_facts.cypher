// Version 21: facts that sources state of tables and columns, and the tags among them; unknown for older ones.
ALTER TABLE `Table` ADD facts STRING;
ALTER TABLE `Table` ADD source_tags STRING[];
ALTER TABLE `Column` ADD facts STRING;
ALTER TABLE `Column` ADD source_tags STRING[];
MATCH (m:Meta {key: 'schema'}) SET m.version = 21;
