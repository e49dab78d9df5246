// Version 9: one way to write the key and the path of a column. rekeying.py gives the nodes that are there their keys.
MATCH (m:Meta {key: 'schema'}) SET m.version = 9;
