"""Fuzz the parsers with damaged code, and look for faults and for inputs that take too long."""
