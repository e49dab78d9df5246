// Version 23: what a job still writes has no time of its own. The job's holds, which has its latest times for all outputs.
MATCH (j:Job) SET j.observed_at = '';
MATCH (j:Job) WHERE j.kind <> 'query' AND j.last_seen IS NOT NULL
SET j.observed_at = ' ' + left(toString(localdatetime.truncate('second', j.last_seen, {nanosecond: 1})), 19) + '.'
+ right('00000' + toString(j.last_seen.microsecond), 6) + '+00:00';
MATCH (j:Job)-[e:WRITES]->(:`Table`) WHERE e.last_seen >= j.last_seen
WITH e, ([''] + e.observations)[-1] AS last WHERE NOT last CONTAINS ' -'
REMOVE e.last_seen;
// Cypher warns about names that the database has never had: these are in the queries that people type.
CALL db.createProperty('dropped_at');
CALL db.createRelationshipType('CONTRIBUTES');
CALL db.createRelationshipType('REFERENCES');
CALL db.createRelationshipType('HAS_COLUMN');
MATCH (m:Meta {key: 'schema'}) SET m.version = 23;
