"""How a C project is compiled: compile commands, recorded builds, compiler arguments, include directories."""
