"""The Python API, documented in docs/api.md."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jarvis_workers.api.c_project import (
        collect_function_names,
        find_compile_commands,
        iter_source_files,
        load_compile_commands,
        scan_directory,
        scan_file,
    )
    from jarvis_workers.api.choices import Language, Severity
    from jarvis_workers.api.comparison import ReportDiff, UncheckedFinding, diff
    from jarvis_workers.api.compat import (
        build_json_and_markdown,
        direct_scan,
        run_security_analysis,
        run_security_analysis_fast,
    )
    from jarvis_workers.api.conversion_run import (
        PrunedProject,
        TranslatedCrate,
        apply_library_replacement,
        run_transpile,
    )
    from jarvis_workers.api.findings import Finding, Status, Suppression, TraceStep
    from jarvis_workers.api.optimization_run import optimize_project
    from jarvis_workers.api.options import ScanOptions
    from jarvis_workers.api.progress import CancelToken, ScanProgress, Stage
    from jarvis_workers.api.project_run import SymbolScan, run_scan
    from jarvis_workers.api.report import Report, ReportFormat, ReportSummary, RunFacts, StageFacts, UncheckedFile
    from jarvis_workers.api.scanning import (
        ScanSession,
        SourceLanguage,
        scan,
        scan_async,
        scan_sources,
        scan_text,
        scan_text_async,
    )
    from jarvis_workers.api.symbol_files import (
        compute_translation_order_jsonl,
        export_root_subgraphs_to_dir,
        find_root_function_ids,
        generate_dot_from_db,
    )
    from jarvis_workers.errors import (
        JarvisError,
        ScanCancelled,
        SettingsError,
        SnapshotError,
        StoreError,
        UsageError,
    )
    from jarvis_workers.source.clang.unit import CompileCommand, Unit

__all__ = [
    "CancelToken",
    "CompileCommand",
    "Finding",
    "JarvisError",
    "Language",
    "PrunedProject",
    "Report",
    "ReportDiff",
    "ReportFormat",
    "ReportSummary",
    "RunFacts",
    "ScanCancelled",
    "ScanOptions",
    "ScanProgress",
    "ScanSession",
    "SettingsError",
    "Severity",
    "SnapshotError",
    "SourceLanguage",
    "Stage",
    "StageFacts",
    "Status",
    "StoreError",
    "Suppression",
    "SymbolScan",
    "TraceStep",
    "TranslatedCrate",
    "UncheckedFile",
    "UncheckedFinding",
    "Unit",
    "UsageError",
    "apply_library_replacement",
    "build_json_and_markdown",
    "collect_function_names",
    "compute_translation_order_jsonl",
    "diff",
    "direct_scan",
    "export_root_subgraphs_to_dir",
    "find_compile_commands",
    "find_root_function_ids",
    "generate_dot_from_db",
    "iter_source_files",
    "load_compile_commands",
    "optimize_project",
    "run_scan",
    "run_security_analysis",
    "run_security_analysis_fast",
    "run_transpile",
    "scan",
    "scan_async",
    "scan_directory",
    "scan_file",
    "scan_sources",
    "scan_text",
    "scan_text_async",
]
# The modules that define the public names, light ones first: names are looked up in this order.
MODULES = (
    "jarvis_workers.errors",
    "jarvis_workers.api.choices",
    "jarvis_workers.api.options",
    "jarvis_workers.api.progress",
    "jarvis_workers.api.findings",
    "jarvis_workers.api.report",
    "jarvis_workers.api.scanning",
    "jarvis_workers.api.comparison",
    "jarvis_workers.api.c_project",
    "jarvis_workers.api.symbol_files",
    "jarvis_workers.api.project_run",
    "jarvis_workers.api.conversion_run",
    "jarvis_workers.api.optimization_run",
    "jarvis_workers.api.compat",
)


def __getattr__(name: str) -> Any:
    """Import a public name on first access: most importers of this package need none of them."""
    if name in __all__:
        for module in map(import_module, MODULES):
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
