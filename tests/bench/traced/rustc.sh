# needs: rustc
rustc -g m.rs && ./m
