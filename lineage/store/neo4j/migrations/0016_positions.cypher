// Version 16: where each statement of a job begins in its file; older jobs lack the property.
MATCH (m:Meta {key: 'schema'}) SET m.version = 16;
