"""Reading C and C++ by libclang: translation units become plain values, which import nothing of libclang."""
