// Version 11: a table's rows influence the rows of tables derived from it, and columns computed by a sub-query over it.
ALTER TABLE `REFERENCES` ADD FROM `Table` TO `Table`;
ALTER TABLE `REFERENCES` ADD FROM `Table` TO `Column`;
ALTER TABLE REFERENCED ADD FROM `Table` TO `Table`;
ALTER TABLE REFERENCED ADD FROM `Table` TO `Column`;
MATCH (m:Meta {key: 'schema'}) SET m.version = 11;
