"""What a user can ask: submit, wait, runs, reports; and from Python, `direct_scan` and the like."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jarvis_workers.service.analysis import (
        build_json_and_markdown,
        direct_scan,
        run_security_analysis,
        run_security_analysis_fast,
    )

__all__ = ["build_json_and_markdown", "direct_scan", "run_security_analysis", "run_security_analysis_fast"]


def __getattr__(name: str) -> Any:
    """Import when it is asked for: most who import a module of this package want nothing of it."""
    if name in __all__:
        from jarvis_workers.service import analysis  # noqa: PLC0415

        return getattr(analysis, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
