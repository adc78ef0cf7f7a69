"""Read Rust source without a parser: its items, statements and unsafe blocks."""
