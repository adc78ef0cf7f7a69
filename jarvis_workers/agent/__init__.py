"""Agents: the loop, its transcript, events, limits and handling of untrusted text. No connections or environment."""
