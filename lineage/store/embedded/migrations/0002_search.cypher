// Version 2: `search`, the lower-case name by which datasets and columns are looked up.
ALTER TABLE `Table` ADD search STRING;
ALTER TABLE `Column` ADD search STRING;
MATCH (t:`Table`) SET t.search = lower(t.name);
MATCH (c:`Column`) SET c.search = lower(c.path);
MATCH (m:Meta {key: 'schema'}) SET m.version = 2;
