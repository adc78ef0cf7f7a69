"""What operators run: workers, metrics, manifests for Kubernetes, the Flower dashboard."""
