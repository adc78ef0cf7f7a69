"""Prometheus metrics and their endpoint; docs/metrics.md lists them. Needs the extra `metrics`."""
