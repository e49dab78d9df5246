// Version 7: what stewards say of tables and columns.
ALTER TABLE `Table` ADD description STRING;
ALTER TABLE `Table` ADD tags STRING[];
ALTER TABLE `Column` ADD description STRING;
ALTER TABLE `Column` ADD tags STRING[];
MATCH (m:Meta {key: 'schema'}) SET m.version = 7;
