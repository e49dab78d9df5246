"""The words of the product as frozen values: names, edges, transformations, diagnostics, jobs, batches. No I/O."""
