"""Steps that move C projects to Rust."""
