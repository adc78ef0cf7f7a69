"""The rules of stage 1: each family has a file, with a row for each of its rules and the checks they need.

A rule sees a name in the code, with comments and literals masked, and says how sure it is.  Those of `flow` have no
check here: `sec/flow` looks for them.
"""

from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from jarvis_workers.sec.rules import (
    alloc_sizes,
    bounds,
    ciphers,
    commands,
    conversions,
    copies,
    credentials,
    endings,
    endless,
    environment,
    file_races,
    flow,
    formats,
    frees,
    hidden_code,
    leaks,
    locks,
    logins,
    mismatches,
    nulls,
    outputs,
    permissions,
    queries,
    randomness,
    realloc,
    reentrancy,
    results,
    rust,
    rust_borders,
    rust_memory,
    rust_results,
    streams,
    temporary,
    threads,
    uninitialized,
    wrong_checks,
)
from jarvis_workers.sec.rules.rule import Rule

__all__ = ["RULES", "RULES_BY_PATTERN", "Rule", "rules_fingerprint"]

FAMILIES = (
    alloc_sizes,
    bounds,
    endings,
    copies,
    formats,
    realloc,
    nulls,
    frees,
    mismatches,
    uninitialized,
    commands,
    environment,
    randomness,
    reentrancy,
    permissions,
    temporary,
    file_races,
    credentials,
    logins,
    ciphers,
    queries,
    streams,
    endless,
    results,
    outputs,
    wrong_checks,
    hidden_code,
    conversions,
    leaks,
    threads,
    locks,
    rust,
    rust_memory,
    rust_borders,
    rust_results,
    flow,
)
RULES: tuple[Rule, ...] = tuple(rule for family in FAMILIES for rule in family.RULES)
RULES_BY_PATTERN = {rule.pattern: rule for rule in RULES}

# Whatever is written in these files decides what a scan returns.
DECIDING_FILES = {
    "jarvis_workers": ("paths.py", "private.py"),
    "jarvis_workers.source": (
        "amounts.py",
        "calls.py",
        "exits.py",
        "functions.py",
        "kept.py",
        "late.py",
        "lex.py",
        "linear.py",
        "match.py",
        "straight.py",
        "uses.py",
    ),
    "jarvis_workers.sec": ("evidence.py", "scanner.py", "suppressions.py"),
    "jarvis_workers.sec.rules": (
        "__init__.py",
        "aliases.py",
        "custom.py",
        "facts.py",
        "flow_buffers.py",
        "flow_outside.py",
        "flow_pointers.py",
        "flow_returns.py",
        "flow_undone.py",
        "known_nulls.py",
        "lengths.py",
        "limits.py",
        "literals.py",
        "macros.py",
        "measures.py",
        "pointers.py",
        "printed.py",
        "rooms.py",
        "rule.py",
        "rust_context.py",
        "scope.py",
        *(f"{family.__name__.rpartition('.')[2]}.py" for family in FAMILIES),
    ),
}


def rules_fingerprint() -> str:
    """Return 16 hex digits that change whenever the result of a scan could."""
    digest = sha256()
    for package, names in DECIDING_FILES.items():
        for name in names:
            digest.update(f"{package}/{name}\0".encode())
            digest.update(_content(package, name))
    return digest.hexdigest()[:16]


def _content(package: str, name: str) -> bytes:
    """Read a file of a package, which may be in an archive; `pkgutil` does the same, and is slow to import."""
    module = import_module(package)
    loader: Any = module.__spec__.loader if module.__spec__ else None
    return bytes(loader.get_data(str(Path(module.__path__[0]) / name)))
