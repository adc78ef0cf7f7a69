"""Kubernetes manifests of batches, as the Helm chart has them."""
