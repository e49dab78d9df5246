"""PostgreSQL's own analysis of a query, and how our lineage differs: `node_tree.py`, `query_analysis.py`, then
`view_comparison.py`.
"""
