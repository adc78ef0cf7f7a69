"""Steps that translate C projects to Rust."""
