"""Who may see and change what: signing in, roles, protection against requests of other sites."""
