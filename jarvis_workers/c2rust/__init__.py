"""C to Rust: the symbols of a C project, their graph and order. Pure: no input, output or processes."""
