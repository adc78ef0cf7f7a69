"""Feed damaged code to what reads it, and look for faults and for what takes too long."""
