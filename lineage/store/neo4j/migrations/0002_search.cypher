// Version 2: `search`, the lower-case name by which datasets and columns are looked up.
CREATE INDEX table_search IF NOT EXISTS FOR (n:`Table`) ON (n.search);
CREATE TEXT INDEX table_search_text IF NOT EXISTS FOR (n:`Table`) ON (n.search);
CREATE TEXT INDEX column_search_text IF NOT EXISTS FOR (n:`Column`) ON (n.search);
MATCH (t:`Table`) SET t.search = toLower(t.name);
MATCH (c:`Column`) SET c.search = toLower(c.path);
MATCH (m:Meta {key: 'schema'}) SET m.version = 2;
