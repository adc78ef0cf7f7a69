"""The options of runs that move a project to Rust from its first scan to its crate."""

from dataclasses import dataclass

from jarvis_workers.c2rust.stages.optimize_options import OptimizeOptions
from jarvis_workers.c2rust.stages.prepare_options import PrepareOptions
from jarvis_workers.c2rust.stages.replace_options import ReplaceOptions
from jarvis_workers.c2rust.stages.translate_options import TranslateOptions


@dataclass(frozen=True, kw_only=True)
class MoveOptions(TranslateOptions, ReplaceOptions, PrepareOptions, OptimizeOptions):
    """The options of all stages."""
