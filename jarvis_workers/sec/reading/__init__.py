"""Reading: divide a tree into groups of whole files, and have a model say all that is wrong with each group."""
