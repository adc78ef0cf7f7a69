"""Read C and C++ with libclang, and convert translation units to plain values, which do not depend on libclang."""
