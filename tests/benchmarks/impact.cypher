// The impact of a column as one statement for Neo4j 5.26, for tests/benchmarks/impact.py: the fastest that was found
// that returns what `impact` returns. What was tried (1,000,000 columns, 5,000,000 edges, 5,600 columns reached):
// - `*1..10` with min(length(path)) is a pruning search and takes 3 microseconds a column. It is exact for values that
//   flow (CONTRIBUTES alone), masked or not, and is used for these. It is not for influence: a hop over rows is two
//   relationships, and whether a longer path has a reference is not known of the shortest.
// - `SHORTEST 1` takes seconds, since it makes a path for each column; with a bound on relationships also others.
// - So what is influenced goes hop by hop: from the columns that the value flows to in one hop less, by references, and
//   from the influenced ones by all. One CALL a hop; `IN` on the list of what was seen before is a look-up in a set.
// - Paths by `shortestPath` for the first hundred columns only.
// It leaves out what is cheap to leave out: ranks by the number of references, which of several paths is shown, fields
// and parents of columns, that a column does not influence itself by its rows, and whether more lies beyond.
MATCH (s:`Column` {key: $key})
CALL (s) {
  MATCH p = (s)-[:CONTRIBUTES*1..10]->(b) WITH b, min(length(p)) AS hops WHERE b <> s
  RETURN collect(b) AS flows, collect(hops) AS flow_hops
}
CALL (s) {
  MATCH (s)-[:CONTRIBUTES*1..10 {masking: false}]->(b) WITH DISTINCT b WHERE b <> s RETURN collect(b) AS unmasked
}
WITH s, flows, flow_hops, unmasked, [s] AS f0, [] AS r0, [s] AS seen0
CALL (s, flows, flow_hops, unmasked, r0, seen0) {
  CALL (s, flows, flow_hops, r0) {
    UNWIND [s] AS a MATCH (a)-[:`REFERENCES`]->(b) RETURN b
    UNION
    UNWIND r0 AS a MATCH (a)-[:CONTRIBUTES|`REFERENCES`]->(b) RETURN b
  }
  CALL (b) {
    WITH b WHERE b:`Column` RETURN b AS c
    UNION ALL
    WITH b WHERE b:`Table` MATCH (b)-[:HAS_COLUMN]->(c) WHERE c.dropped_at IS NULL RETURN c
  }
  WITH DISTINCT c, seen0 WHERE NOT c IN seen0
  RETURN collect(c) AS r1
}
WITH s, flows, flow_hops, unmasked, r1, seen0 + r1 AS seen1
CALL (s, flows, flow_hops, unmasked, r1, seen1) {
  CALL (s, flows, flow_hops, r1) {
    UNWIND [place IN range(0, size(flows) - 1) WHERE flow_hops[place] = 1 | flows[place]] AS a MATCH (a)-[:`REFERENCES`]->(b) RETURN b
    UNION
    UNWIND r1 AS a MATCH (a)-[:CONTRIBUTES|`REFERENCES`]->(b) RETURN b
  }
  CALL (b) {
    WITH b WHERE b:`Column` RETURN b AS c
    UNION ALL
    WITH b WHERE b:`Table` MATCH (b)-[:HAS_COLUMN]->(c) WHERE c.dropped_at IS NULL RETURN c
  }
  WITH DISTINCT c, seen1 WHERE NOT c IN seen1
  RETURN collect(c) AS r2
}
WITH s, flows, flow_hops, unmasked, r1, r2, seen1 + r2 AS seen2
CALL (s, flows, flow_hops, unmasked, r2, seen2) {
  CALL (s, flows, flow_hops, r2) {
    UNWIND [place IN range(0, size(flows) - 1) WHERE flow_hops[place] = 2 | flows[place]] AS a MATCH (a)-[:`REFERENCES`]->(b) RETURN b
    UNION
    UNWIND r2 AS a MATCH (a)-[:CONTRIBUTES|`REFERENCES`]->(b) RETURN b
  }
  CALL (b) {
    WITH b WHERE b:`Column` RETURN b AS c
    UNION ALL
    WITH b WHERE b:`Table` MATCH (b)-[:HAS_COLUMN]->(c) WHERE c.dropped_at IS NULL RETURN c
  }
  WITH DISTINCT c, seen2 WHERE NOT c IN seen2
  RETURN collect(c) AS r3
}
WITH s, flows, flow_hops, unmasked, r1, r2, r3, seen2 + r3 AS seen3
CALL (s, flows, flow_hops, unmasked, r3, seen3) {
  CALL (s, flows, flow_hops, r3) {
    UNWIND [place IN range(0, size(flows) - 1) WHERE flow_hops[place] = 3 | flows[place]] AS a MATCH (a)-[:`REFERENCES`]->(b) RETURN b
    UNION
    UNWIND r3 AS a MATCH (a)-[:CONTRIBUTES|`REFERENCES`]->(b) RETURN b
  }
  CALL (b) {
    WITH b WHERE b:`Column` RETURN b AS c
    UNION ALL
    WITH b WHERE b:`Table` MATCH (b)-[:HAS_COLUMN]->(c) WHERE c.dropped_at IS NULL RETURN c
  }
  WITH DISTINCT c, seen3 WHERE NOT c IN seen3
  RETURN collect(c) AS r4
}
WITH s, flows, flow_hops, unmasked, r1, r2, r3, r4, seen3 + r4 AS seen4
CALL (s, flows, flow_hops, unmasked, r4, seen4) {
  CALL (s, flows, flow_hops, r4) {
    UNWIND [place IN range(0, size(flows) - 1) WHERE flow_hops[place] = 4 | flows[place]] AS a MATCH (a)-[:`REFERENCES`]->(b) RETURN b
    UNION
    UNWIND r4 AS a MATCH (a)-[:CONTRIBUTES|`REFERENCES`]->(b) RETURN b
  }
  CALL (b) {
    WITH b WHERE b:`Column` RETURN b AS c
    UNION ALL
    WITH b WHERE b:`Table` MATCH (b)-[:HAS_COLUMN]->(c) WHERE c.dropped_at IS NULL RETURN c
  }
  WITH DISTINCT c, seen4 WHERE NOT c IN seen4
  RETURN collect(c) AS r5
}
WITH s, flows, flow_hops, unmasked, r1, r2, r3, r4, r5, seen4 + r5 AS seen5
CALL (s, flows, flow_hops, unmasked, r5, seen5) {
  CALL (s, flows, flow_hops, r5) {
    UNWIND [place IN range(0, size(flows) - 1) WHERE flow_hops[place] = 5 | flows[place]] AS a MATCH (a)-[:`REFERENCES`]->(b) RETURN b
    UNION
    UNWIND r5 AS a MATCH (a)-[:CONTRIBUTES|`REFERENCES`]->(b) RETURN b
  }
  CALL (b) {
    WITH b WHERE b:`Column` RETURN b AS c
    UNION ALL
    WITH b WHERE b:`Table` MATCH (b)-[:HAS_COLUMN]->(c) WHERE c.dropped_at IS NULL RETURN c
  }
  WITH DISTINCT c, seen5 WHERE NOT c IN seen5
  RETURN collect(c) AS r6
}
WITH s, flows, flow_hops, unmasked, r1, r2, r3, r4, r5, r6, seen5 + r6 AS seen6
CALL (s, flows, flow_hops, unmasked, r6, seen6) {
  CALL (s, flows, flow_hops, r6) {
    UNWIND [place IN range(0, size(flows) - 1) WHERE flow_hops[place] = 6 | flows[place]] AS a MATCH (a)-[:`REFERENCES`]->(b) RETURN b
    UNION
    UNWIND r6 AS a MATCH (a)-[:CONTRIBUTES|`REFERENCES`]->(b) RETURN b
  }
  CALL (b) {
    WITH b WHERE b:`Column` RETURN b AS c
    UNION ALL
    WITH b WHERE b:`Table` MATCH (b)-[:HAS_COLUMN]->(c) WHERE c.dropped_at IS NULL RETURN c
  }
  WITH DISTINCT c, seen6 WHERE NOT c IN seen6
  RETURN collect(c) AS r7
}
WITH s, flows, flow_hops, unmasked, r1, r2, r3, r4, r5, r6, r7, seen6 + r7 AS seen7
CALL (s, flows, flow_hops, unmasked, r7, seen7) {
  CALL (s, flows, flow_hops, r7) {
    UNWIND [place IN range(0, size(flows) - 1) WHERE flow_hops[place] = 7 | flows[place]] AS a MATCH (a)-[:`REFERENCES`]->(b) RETURN b
    UNION
    UNWIND r7 AS a MATCH (a)-[:CONTRIBUTES|`REFERENCES`]->(b) RETURN b
  }
  CALL (b) {
    WITH b WHERE b:`Column` RETURN b AS c
    UNION ALL
    WITH b WHERE b:`Table` MATCH (b)-[:HAS_COLUMN]->(c) WHERE c.dropped_at IS NULL RETURN c
  }
  WITH DISTINCT c, seen7 WHERE NOT c IN seen7
  RETURN collect(c) AS r8
}
WITH s, flows, flow_hops, unmasked, r1, r2, r3, r4, r5, r6, r7, r8, seen7 + r8 AS seen8
CALL (s, flows, flow_hops, unmasked, r8, seen8) {
  CALL (s, flows, flow_hops, r8) {
    UNWIND [place IN range(0, size(flows) - 1) WHERE flow_hops[place] = 8 | flows[place]] AS a MATCH (a)-[:`REFERENCES`]->(b) RETURN b
    UNION
    UNWIND r8 AS a MATCH (a)-[:CONTRIBUTES|`REFERENCES`]->(b) RETURN b
  }
  CALL (b) {
    WITH b WHERE b:`Column` RETURN b AS c
    UNION ALL
    WITH b WHERE b:`Table` MATCH (b)-[:HAS_COLUMN]->(c) WHERE c.dropped_at IS NULL RETURN c
  }
  WITH DISTINCT c, seen8 WHERE NOT c IN seen8
  RETURN collect(c) AS r9
}
WITH s, flows, flow_hops, unmasked, r1, r2, r3, r4, r5, r6, r7, r8, r9, seen8 + r9 AS seen9
CALL (s, flows, flow_hops, unmasked, r9, seen9) {
  CALL (s, flows, flow_hops, r9) {
    UNWIND [place IN range(0, size(flows) - 1) WHERE flow_hops[place] = 9 | flows[place]] AS a MATCH (a)-[:`REFERENCES`]->(b) RETURN b
    UNION
    UNWIND r9 AS a MATCH (a)-[:CONTRIBUTES|`REFERENCES`]->(b) RETURN b
  }
  CALL (b) {
    WITH b WHERE b:`Column` RETURN b AS c
    UNION ALL
    WITH b WHERE b:`Table` MATCH (b)-[:HAS_COLUMN]->(c) WHERE c.dropped_at IS NULL RETURN c
  }
  WITH DISTINCT c, seen9 WHERE NOT c IN seen9
  RETURN collect(c) AS r10
}
WITH s, flows, flow_hops, unmasked, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10
CALL (flows, flow_hops, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10) {
  UNWIND range(0, size(flows) - 1) AS place RETURN flows[place] AS c, flow_hops[place] AS hops, true AS flow
  UNION ALL
  UNWIND r1 AS c RETURN c, 1 AS hops, false AS flow
  UNION ALL
  UNWIND r2 AS c RETURN c, 2 AS hops, false AS flow
  UNION ALL
  UNWIND r3 AS c RETURN c, 3 AS hops, false AS flow
  UNION ALL
  UNWIND r4 AS c RETURN c, 4 AS hops, false AS flow
  UNION ALL
  UNWIND r5 AS c RETURN c, 5 AS hops, false AS flow
  UNION ALL
  UNWIND r6 AS c RETURN c, 6 AS hops, false AS flow
  UNION ALL
  UNWIND r7 AS c RETURN c, 7 AS hops, false AS flow
  UNION ALL
  UNWIND r8 AS c RETURN c, 8 AS hops, false AS flow
  UNION ALL
  UNWIND r9 AS c RETURN c, 9 AS hops, false AS flow
  UNION ALL
  UNWIND r10 AS c RETURN c, 10 AS hops, false AS flow
}
WITH s, unmasked, c, min(hops) AS hops, collect(flow) AS kinds
WITH s, c, hops, true IN kinds AS flows, false IN kinds AS influenced, c IN unmasked AS unmasked
ORDER BY hops, c.key
WITH s, collect({column: c, key: c.key, dataset: c.dataset, hops: hops, flows: flows, influenced: influenced,
                 masked: flows AND NOT unmasked}) AS reached
CALL (reached) {
  UNWIND reached AS one WITH one.hops AS hops, count(*) AS columns RETURN collect([hops, columns]) AS by_hop
}
CALL (reached) {
  UNWIND reached AS one WITH one.dataset AS dataset, count(*) AS columns
  MATCH (t:`Table` {key: dataset}) RETURN collect([t.name, columns]) AS tables
}
CALL (s, reached) {
  UNWIND reached[..100] AS one WITH s, one, one.column AS c
  MATCH p = shortestPath((s)-[:CONTRIBUTES|`REFERENCES`|HAS_COLUMN*1..11]->(c))
  RETURN collect([one.key, one.hops, one.flows, one.influenced, one.masked,
                  [e IN relationships(p) | [type(e), e.job, e.subtypes, e.masking, e.spans, endNode(e).key]]]) AS page
}
RETURN size(reached) AS total, by_hop, tables, page
