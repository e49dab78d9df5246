"""Authentication and authorization: roles, API tokens, JWTs of an OpenID provider."""
