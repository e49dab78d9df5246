"""The parts of a batch, by subject: datasets, edges, changes, diagnostics and uses."""
