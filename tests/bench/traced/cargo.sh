# needs: cargo
cargo new -q --vcs none c && cd c && cargo test -q --offline && cargo run -q --offline
