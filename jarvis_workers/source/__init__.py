"""Source text analysis: pattern matching, and lexers for C, C++ and Rust."""
