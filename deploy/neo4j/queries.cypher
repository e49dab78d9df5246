// Ten questions, for Neo4j Browser and cypher-shell. A query begins at a line `// name: …`.
// Each takes parameters: in Browser, run `:param column => 'orders.amount'` first. `column` and `table` are captions:
// table.column, and the table's last name.

// name: What depends on this column?
MATCH path = (c:Column {name: $column})-[:CONTRIBUTES|REFERENCES|HAS_COLUMN*1..8]->(reached:Column)
WHERE reached.dropped_at IS NULL RETURN path LIMIT 300

// name: Where does this column come from?
MATCH path = (source:Column)-[:CONTRIBUTES*1..8]->(c:Column {name: $column})
WHERE source.dropped_at IS NULL RETURN path LIMIT 300

// name: Where do its values arrive unmasked?
MATCH path = (c:Column {name: $column})-[:CONTRIBUTES*1..8]->(reached:Column)
WHERE reached.dropped_at IS NULL AND none(step IN relationships(path) WHERE step.masking)
RETURN path LIMIT 300

// name: Where do tagged values go?
MATCH (tag:Tag {name: $tag}) WHERE NOT tag.denied
MATCH path = (c:Column {key: tag.subject})-[:CONTRIBUTES*0..6]->(reached:Column)
WHERE reached.dropped_at IS NULL RETURN path LIMIT 300

// name: Which tables read this table?
MATCH path = (t:Table {name: $table})-[:FEEDS*1..4]->(reader:Table)
WHERE reader.dropped_at IS NULL RETURN path LIMIT 300

// name: Which jobs write this table, and with which SQL?
MATCH (j:Job)-[:WRITES]->(t:Table {name: $table})
RETURN j.source AS source, j.operation AS operation, j.sql AS sql

// name: What decides about the rows of this table?
MATCH path = (source)-[:REFERENCES]->(t:Table {name: $table}) RETURN path LIMIT 300

// name: Who reads this table?
MATCH (u:Usage)-[:OF]->(t:Table {name: $table}) WHERE u.reads > 0
UNWIND range(0, size(u.users) - 1) AS place
RETURN u.users[place] AS user, sum(u.user_queries[place]) AS queries, max(u.day) AS last_day ORDER BY queries DESC

// name: Which columns have a class of personal data?
MATCH (tag:Tag) WHERE NOT tag.denied MATCH (c:Column {key: tag.subject})
RETURN tag.name AS class, collect(c.name) AS columns ORDER BY class

// name: Which SQL was not understood?
MATCH (d:Diagnostic) RETURN d.code AS code, d.source AS source, d.span_line AS line, d.message AS message LIMIT 300
