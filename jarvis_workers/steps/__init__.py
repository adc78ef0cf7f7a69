"""The steps: one module per step, and the pipelines that order them."""
