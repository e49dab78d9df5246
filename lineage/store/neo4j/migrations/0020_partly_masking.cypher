// Version 20: the masked subtypes of an edge that has others, too. Older edges lack the property.
MATCH (m:Meta {key: 'schema'}) SET m.version = 20;
