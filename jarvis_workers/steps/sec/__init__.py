"""The steps of a security scan."""
