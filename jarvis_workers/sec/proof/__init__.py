"""Proofs by execution: a sanitizer stops a program of the tree, or a harness over its functions, at the finding."""
