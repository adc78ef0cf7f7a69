"""Health checks of this machine, the cluster, and processes."""
