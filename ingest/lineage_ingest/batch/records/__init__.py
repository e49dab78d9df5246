"""What a batch holds of statements: datasets, jobs, edges, uses, diagnostics."""
