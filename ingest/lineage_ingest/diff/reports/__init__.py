"""A diff as a comment, JSON, SARIF, JUnit and lines for a terminal."""
