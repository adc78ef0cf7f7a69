"""Agents: the loop, its transcript, events, limits, plugins and the handling of untrusted text."""
