"""Execute statements, and the functions that they call."""
