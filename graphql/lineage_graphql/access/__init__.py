"""Who may do what: roles, API tokens, JWTs of an OpenID provider."""
