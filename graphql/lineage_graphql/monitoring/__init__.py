"""What operators watch: metrics, traces, whether the service is ready, and how old the last ingests are."""
