// Version 3: users and last use of datasets, columns and jobs, and the run time of jobs. Older nodes have no values.
// Properties need no declaration.
MATCH (m:Meta {key: 'schema'}) SET m.version = 3;
