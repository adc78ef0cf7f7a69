"""A compiler in PATH that inserts slots into the functions that it compiles, for builds in the sandbox.

This file is copied next to the build and called as `slot_cc.py PACKAGE COMPILER ARGUMENT…`.  The directory of the
package can be read there, but not the one above it, so the package is loaded by its path.
"""

import importlib.util
import os
import sys


def load(package: str) -> None:
    """Make `jarvis_workers` importable from its directory."""
    place = os.path.join(package, "__init__.py")  # noqa: PTH118
    spec = importlib.util.spec_from_file_location("jarvis_workers", place, submodule_search_locations=[package])
    assert spec is not None
    assert spec.loader is not None
    sys.modules["jarvis_workers"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


if __name__ == "__main__":
    load(sys.argv[1])
    from jarvis_workers.c2rust.bench.slot_compiler import compile_with_slots
    from jarvis_workers.errors import JarvisError

    try:
        sys.exit(compile_with_slots(sys.argv[3:], {**os.environ, "JARVIS_C2RUST_CC": sys.argv[2]}))
    except JarvisError as problem:
        sys.stderr.write(f"{problem}\n")
        sys.exit(2)
