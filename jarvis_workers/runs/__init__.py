"""Runs of any kind: request, sources, submitting, waiting, status, labels, health; knows no domain."""
