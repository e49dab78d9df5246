"""Where the pipeline runs: local processes or Spark."""
