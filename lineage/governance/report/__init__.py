"""The report on personal data, what a policy of the user says of it, and its formats."""
