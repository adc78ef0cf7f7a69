"""Convert C projects to Rust. The modules in this folder are pure: symbols, graph, order, bodies, gates."""
