"""Submit runs that read a C project."""

from collections.abc import Mapping
from pathlib import Path

from jarvis_workers.builds.compile_sources import CompileOptions
from jarvis_workers.c2rust.runs.symbol_scan import plan_of, scan_request
from jarvis_workers.c2rust.stages.options import ParseOptions
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.runs.submit import submit
from jarvis_workers.settings import Settings
from tests.sec.stages.pipeline import Pipeline


def start_symbol_scan(pipeline: Pipeline, root: Path, files: Mapping[str, str], *, processes: int = 1) -> str:
    """Write a project, and submit a run over it that is not started; return its id."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    settings = Settings(processes=processes)
    source = SourceTree(root, bytes(root))
    plan = plan_of(settings, root, CompileOptions())
    return submit(pipeline.store, pipeline.blobs, scan_request(ParseOptions(), settings, source, plan, "cluster"))
