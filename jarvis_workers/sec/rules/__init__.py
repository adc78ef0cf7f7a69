"""The rules of the scan stage: one module per family, with its checks and the names that its rules match.

Their texts and numbers are in rules.json, their examples in examples.c and examples.rs.

A rule matches a name in code whose comments and literals are masked, and returns a confidence.  The rules of `flow`
have no check here: `dataflow` reports them.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from jarvis_workers.sec.rules.rule import Rule

__all__ = ["RULES", "RULES_BY_PATTERN", "Rule", "rules_fingerprint"]


def _modules(package: str) -> list[str]:
    """Return the file names of a package, which may be in an archive; `pkgutil` could do this but is slow to import."""
    path = import_module(package).__path__
    if Path(path[0]).is_dir():
        return sorted(file.name for file in Path(path[0]).glob("*.py"))
    import pkgutil  # noqa: PLC0415

    return sorted(["__init__.py", *(f"{one.name}.py" for one in pkgutil.iter_modules(path) if not one.ispkg)])


FAMILIES = [name[:-3] for name in _modules(f"{__name__}.families") if name != "__init__.py"]
RULES: tuple[Rule, ...] = tuple(
    rule for family in FAMILIES for rule in import_module(f"{__name__}.families.{family}").RULES
)
RULES_BY_PATTERN = {rule.pattern: rule for rule in RULES}
# The contents of these files determine the result of a scan.
DECIDING_FILES: Mapping[str, Sequence[str]] = {
    "jarvis_workers": ("paths.py", "private_files.py"),
    "jarvis_workers.source": _modules("jarvis_workers.source"),
    "jarvis_workers.sec": ("evidence.py", "scanner.py", "suppressions.py"),
    "jarvis_workers.sec.rules": [*_modules("jarvis_workers.sec.rules"), "rules.json"],
    "jarvis_workers.sec.rules.analysis": _modules("jarvis_workers.sec.rules.analysis"),
    "jarvis_workers.sec.rules.families": _modules("jarvis_workers.sec.rules.families"),
}


def rules_fingerprint() -> str:
    """Return 16 hex digits that change whenever the result of a scan could change."""
    digest = sha256()
    for package, names in DECIDING_FILES.items():
        for name in names:
            digest.update(f"{package}/{name}\0".encode())
            digest.update(_content(package, name))
    return digest.hexdigest()[:16]


def _content(package: str, name: str) -> bytes:
    """Read a file of a package, which may be in an archive; `pkgutil` could do this but is slow to import."""
    module = import_module(package)
    loader: Any = module.__spec__.loader if module.__spec__ else None
    return bytes(loader.get_data(str(Path(module.__path__[0]) / name)))
