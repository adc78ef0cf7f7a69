"""The steps of all pipelines: one module per step, and the order of the steps in each pipeline."""
