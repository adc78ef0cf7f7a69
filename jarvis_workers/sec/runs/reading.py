"""The options of `--read`: what is read, for how much, in which pieces, and what readers are told of the project."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from jarvis_workers.errors import UsageError
from jarvis_workers.models.platforms.costs import cost_of
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.models.ratelimit.budget import RunBudget, read_budget
from jarvis_workers.paths import plain
from jarvis_workers.runs.models import model_group
from jarvis_workers.sec.judge.cost_model import reading_usage
from jarvis_workers.sec.runs.scan_input import ScanInput
from jarvis_workers.sec.stages.judge_options import READ_ROOM, JudgeOptions
from jarvis_workers.settings import Settings

# The share of the context window of a model that a group of files takes.
WINDOW_PARTS = 3
README_NAMES = ("README", "README.md", "README.rst", "README.txt")
README_LINES, README_BYTES, LINE_LENGTH = 10, 4_000, 200
BUILD_NAMES = (
    *("Makefile", "GNUmakefile", "CMakeLists.txt", "configure.ac", "configure", "meson.build", "Cargo.toml", "BUILD"),
    *("BUILD.bazel", "SConstruct", "build.sh", "autogen.sh", "Makefile.am"),
)


def with_reader(settings: Settings, options: JudgeOptions, name: str) -> JudgeOptions:
    """Return the options with what the model group `name` reads, as the settings say. Raises UsageError."""
    group, read = model_group(settings, name), settings.agent.read
    if read == "none":
        return options
    budget = read_budget(settings.agent.read_budget) if read == "auto" else None
    return replace(
        options,
        read=read,
        read_room=min(READ_ROOM, group.quirks.context // WINDOW_PARTS),
        read_budget=budget,
        read_tokens=_tokens_for(budget, group, name) if budget else None,
    )


def _tokens_for(budget: RunBudget, group: ModelGroup, name: str) -> int:
    """Return the tokens of questions and answers that a budget pays for."""
    if budget.unit == "tok":
        return budget.cap
    usage = reading_usage(READ_ROOM)
    if not (price := cost_of(usage, group.prices)):
        raise UsageError(
            f'--read-budget: the model group "{plain(name)}" has no prices, so what it reads for an amount of dollars'
            " cannot be computed; set them in jarvis.yaml, or give a budget in tokens (200ktok)"
        )
    return int(budget.amount / price * usage.total)


def with_intro(scan_input: ScanInput, root: Path) -> ScanInput:
    """Return the input of a scan with what the tree says of itself, if files are to be read."""
    options = scan_input.options
    if not isinstance(options, JudgeOptions) or options.read is None or not root.is_dir():
        return scan_input
    return replace(scan_input, options=replace(options, read_intro="\n".join(_intro(root))))


def _intro(root: Path) -> Iterator[str]:
    """Yield the first lines of the README and the names of the build files; no link is followed."""
    names = {path.name for path in root.iterdir() if path.is_file() and not path.is_symlink()}
    if readme := next((name for name in README_NAMES if name in names), None):
        with (root / readme).open("rb") as file:
            lines = file.read(README_BYTES).decode("utf-8", "replace").splitlines()
        written = [line for line in lines if line.strip()][:README_LINES]
        yield from (f"{readme}: {plain(line)[:LINE_LENGTH]}" for line in written)
    if build := [name for name in BUILD_NAMES if name in names]:
        yield f"Build files: {', '.join(build)}"
