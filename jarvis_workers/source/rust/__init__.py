"""Read and edit Rust source by its syntax tree: items, unsafe code, statements."""
