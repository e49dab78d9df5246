// Version 7: annotations of tables and columns by data stewards.
ALTER TABLE `Table` ADD description STRING;
ALTER TABLE `Table` ADD tags STRING[];
ALTER TABLE `Column` ADD description STRING;
ALTER TABLE `Column` ADD tags STRING[];
MATCH (m:Meta {key: 'schema'}) SET m.version = 7;
