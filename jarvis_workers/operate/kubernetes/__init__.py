"""Kubernetes manifests of batches, equal to those of the Helm chart."""
