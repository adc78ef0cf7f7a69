"""A benchmark of readers: known security fixes in real trees, found by the product and by a plain conversation."""
