"""What the files of a project state for its conversion: libraries that replace functions, modules, signatures."""

from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_workers.c2rust.function_uses import function_uses
from jarvis_workers.c2rust.library_plan import NAMES_SHOWN, LibraryPlan, plan_of_files
from jarvis_workers.c2rust.plan_files import PlanFiles, read_crate_plan, read_signature_lines
from jarvis_workers.c2rust.runs.project_files import (
    CRATE_PLAN,
    RAW_SYMBOLS,
    SIGNATURES,
    SYMBOLS,
    directory_of,
    read_lines,
    read_symbol_file,
)
from jarvis_workers.c2rust.runs.vendored_sources import allowed_crates
from jarvis_workers.paths import listing, plain

if TYPE_CHECKING:
    from jarvis_workers.settings import Settings

NOT_ALLOWED = f"{SYMBOLS}: what these crates replace is translated, since they are not in c2rust.allowed_crates: {{}}"


def allowed_libraries(settings: "Settings", root: Path) -> tuple[bytes, tuple[str, ...]]:
    """Return the LibraryPlan of a project, whose files may name any crate, for the allowed crates, and warnings."""
    content = libraries_of(root)
    if not content:
        return b"", ()
    plan, others = LibraryPlan.model_validate_json(content).allowed(allowed_crates(settings))
    warnings = (NOT_ALLOWED.format(plain(listing(others, NAMES_SHOWN))),) if others else ()
    return plan.model_dump_json().encode(), warnings


def planned_crates(libraries: bytes) -> set[str]:
    """Return the crates of a LibraryPlan."""
    return {name for one in LibraryPlan.model_validate_json(libraries).replaced.values() for name in one.libraries}


def libraries_of(root: Path) -> bytes:
    """Return the LibraryPlan that the symbol files of a project state, b"" for none. Raises UsageError.

    Functions that are missing in symbols.jsonl are left to the mechanical translation.
    """
    directory = directory_of(root)
    files = [directory / name for name in (RAW_SYMBOLS, SYMBOLS)]
    if not all(path.is_file() for path in files):
        return b""
    raw, left = (read_symbol_file(path, root).graph for path in files)
    plan = plan_of_files(raw, function_uses(raw), left)
    return plan.model_dump_json().encode() if plan != LibraryPlan() else b""


def plan_files_of(root: Path) -> bytes:
    """Return the PlanFiles of a project, b"" for none. Raises UsageError, which names the wrong line."""
    directory = directory_of(root)
    modules, signatures = directory / CRATE_PLAN, directory / SIGNATURES
    plan = PlanFiles(
        modules=read_crate_plan("\n".join(read_lines(modules)), str(modules)) if modules.is_file() else None,
        functions=read_signature_lines(read_lines(signatures), str(signatures)) if signatures.is_file() else {},
    )
    return plan.model_dump_json().encode() if plan != PlanFiles() else b""
