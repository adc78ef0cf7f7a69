"""Analysis of the uses of pointer parameters in C functions, from syntax trees; without I/O."""
