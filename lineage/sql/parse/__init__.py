"""Parse SQL text into syntax trees; recover what can be read of statements that do not parse."""
