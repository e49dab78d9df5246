// Version 3: who used a dataset, a column or a job, when last, and how long jobs ran. What was stored before has no
// values; properties need no declaration.
MATCH (m:Meta {key: 'schema'}) SET m.version = 3;
