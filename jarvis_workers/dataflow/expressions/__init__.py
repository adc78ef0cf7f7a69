"""Evaluate expressions on a path: names, lvalues, assignments, arithmetic and conditions."""
