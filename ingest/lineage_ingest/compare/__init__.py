"""Second opinions: compare the graph with the column lineage that a product states itself."""
