"""Read source text: match patterns, lex C, C++ and Rust."""
