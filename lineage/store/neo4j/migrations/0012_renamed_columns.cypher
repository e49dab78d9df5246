// Version 12: columns that are renamed: which, and what they were called before; properties need no declaration.
MATCH (m:Meta {key: 'schema'}) SET m.version = 12;
