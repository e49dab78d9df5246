// Version 17: original spelling of names, for dialects that compare names ignoring case; older names lack the property.
MATCH (m:Meta {key: 'schema'}) SET m.version = 17;
