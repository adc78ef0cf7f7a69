"""Agents: the loop, what it remembers, what it tells, and what it trusts. Pure: no connection, clock or environment."""
