"""Checks of this machine, of the cluster and of its processes, as `jarvis doctor` shows them."""
