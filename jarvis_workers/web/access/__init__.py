"""Access control: signing in, roles, and protection against cross-site requests."""
