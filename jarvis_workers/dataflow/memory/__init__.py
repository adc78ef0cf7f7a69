"""Objects in memory: contents, ownership, sizes, and data from outside."""
