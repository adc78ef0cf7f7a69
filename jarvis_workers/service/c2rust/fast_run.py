"""Submit a run that converts a C project to Rust, without or with a model, or gives its functions Rust signatures."""

import os
import re
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from jarvis_workers.c2rust.function_uses import function_uses
from jarvis_workers.c2rust.library_plan import NAMES_SHOWN, LibraryPlan, plan_of_files
from jarvis_workers.c2rust.optimization import PASSES
from jarvis_workers.c2rust.plan_files import PlanFiles, read_crate_plan, read_signature_lines
from jarvis_workers.c2rust.rust_names import KEYWORDS
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import listing, plain
from jarvis_workers.sandbox.sandbox import best_tier, refusal
from jarvis_workers.service.budgets import budget_of
from jarvis_workers.service.c2rust.compile_sources import CompilePlan
from jarvis_workers.service.c2rust.project_archive import pack_project
from jarvis_workers.service.c2rust.project_files import (
    CRATE_PLAN,
    RAW_SYMBOLS,
    SIGNATURES,
    SYMBOLS,
    delayed_entries,
    directory_of,
    read_lines,
    read_symbol_file,
)
from jarvis_workers.service.c2rust.symbol_scan import ParseInput, parse_options_of, project_request
from jarvis_workers.service.c2rust.vendored_sources import allowed_crates, pack_crates
from jarvis_workers.service.conversation_limits import agent_limits_of
from jarvis_workers.service.models import model_name, models_are_set
from jarvis_workers.service.request import RunRequest
from jarvis_workers.service.runs import is_abandoned, newest_runs
from jarvis_workers.service.sources import SourceTree
from jarvis_workers.steps.c2rust.fast_options import FastOptions
from jarvis_workers.steps.c2rust.options import encode_commands
from jarvis_workers.steps.c2rust.pipelines import FAST, PREPARE, RUN, SKELETON, TRANSPILE
from jarvis_workers.steps.c2rust.prepare_options import PrepareOptions
from jarvis_workers.steps.c2rust.run_options import MoveOptions
from jarvis_workers.steps.c2rust.translate_options import TranslateOptions
from jarvis_workers.toolchain.cargo import find_rust

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from jarvis_workers.settings import Settings
    from jarvis_workers.snapshots.selection import Selection
    from jarvis_workers.store.engine import Store
    from jarvis_workers.store.values import Run

RUST_CRATES = frozenset(("alloc", "core", "proc_macro", "std", "test"))


MOST_RUNS = 200
# The stages that replace functions, and those that optimize the crate, the latter with a model.
REPLACING, IMPROVING = ("replace", "prune"), ("improve",)
OPTIMIZING = ("optimize", *IMPROVING)
NO_MODEL = "this command asks a model: set OPENAI_API_KEY and OPENAI_MODEL, or models in jarvis.yaml"
WITHOUT_MODEL = "to convert a library without a model: jarvis c2rust fast"
SIGNATURES_WITHOUT_MODEL = "for signatures without a model: jarvis c2rust skeleton"
NO_CRATES = "--fetch-crates: run {} goes on without crates; leave the option out, or begin a new run with --no-resume"
NOT_ALLOWED = f"{SYMBOLS}: what these crates replace is translated, since they are not in c2rust.allowed_crates: {{}}"


OPTIONS: "Mapping[str, type[FastOptions]]" = {
    TRANSPILE: TranslateOptions,
    PREPARE: PrepareOptions,
    RUN: MoveOptions,
}


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model that translates functions; see `TranslateOptions`."""

    group: str | None = None
    max_retries: int = 5
    notes: str = ""
    review: bool = True
    escalate: str | None = None
    risky: "Mapping[str, Sequence[int]]" = field(default_factory=dict)
    drivers: bool = True


@dataclass(frozen=True, slots=True)
class LibraryPart:
    """How a run with all stages replaces functions by libraries; see `ReplaceOptions`. It can leave stages out."""

    roots: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
    skipped_stages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FastChoice:
    """The options of a command; see `FastOptions`.

    With a `model`, functions are translated by it; with `forward`, too, it plans their modules and signatures. With
    `libraries`, the run has the stages that replace functions; without, its files state which are replaced. `lang` is
    the language of the report.
    """

    configure: str | None = None
    build: str | None = None
    tests: tuple[str, ...] = ()
    proof: Literal["built", "reached", "compared"] = "reached"
    only: tuple[str, ...] = ()
    forward: bool = False
    crate: str = "library"
    cache: bool = True
    model: ModelChoice | None = None
    libraries: LibraryPart | None = None
    lang: Literal["en", "zh"] = "en"

    @property
    def kind(self) -> str:
        """The kind of a run with these options."""
        if self.libraries:
            return RUN
        if self.forward:
            return PREPARE if self.model else SKELETON
        return TRANSPILE if self.model else FAST

    @property
    def identity(self) -> dict[str, Any]:
        """The values that identify a named run; a new option must be left out at its default, or all names change."""
        return {name: value for name, value in asdict(self).items() if name != "lang"}


@dataclass(frozen=True)
class FastInput(ParseInput):
    """The input of a run: options, compile commands, and the archive of the project before its build.

    A LibraryPlan, PlanFiles and vendored crates are b"" without one.
    """

    options: FastOptions
    archive: bytes = b""
    libraries: bytes = b""
    plan: bytes = b""
    crates: bytes = b""

    @property
    def contents(self) -> tuple[bytes, ...]:
        """Return the compile commands, the archive, and the plans and crates if there are any."""
        return self.commands, self.archive, *(one for one in (self.libraries, self.plan, self.crates) if one)

    def complete(self, selection: "Selection", store: "Store | None") -> FastOptions:
        """Return the options with the names of the blobs."""
        return replace(
            self.options,
            commands=sha256(self.commands).hexdigest(),
            project=sha256(self.archive).hexdigest(),
            libraries=_blob_name(self.libraries),
            plan=_blob_name(self.plan),
            crates=_blob_name(self.crates),
        )


def _blob_name(content: bytes) -> str:
    return sha256(content).hexdigest() if content else ""


def require_tools(settings: "Settings") -> None:
    """Raise UsageError if this machine must build and test crates but lacks cargo or a sandbox."""
    if settings.place == "local":
        find_rust()
        if why := refusal(best_tier()):
            raise UsageError(f"projects are built and tested only in the sandbox: {why}")


def fast_request(
    settings: "Settings",
    source: SourceTree,
    plan: CompilePlan,
    executor: str,
    choice: FastChoice,
    labels: "Mapping[str, str] | None" = None,
) -> RunRequest[FastInput]:
    """Return the request for a run that converts a project according to its compile plan. Raises UsageError."""
    archive = pack_project(source.path, settings.c2rust.build_disk_mb)
    libraries, warnings = (
        _allowed_libraries(settings, source.path) if choice.kind in (PREPARE, TRANSPILE) else (b"", ())
    )
    options = _options(settings, replace(plan, warnings=(*plan.warnings, *warnings)), choice)
    planned = plan_of(source.path) if choice.kind == TRANSPILE else b""
    crates = pack_crates(settings, source.path, usable_crates(settings, choice, libraries))
    given = FastInput(options, encode_commands(plan.commands), archive, libraries, planned, crates)
    request = project_request(settings, source, plan, choice.kind, executor, given, labels)
    if choice.libraries:
        request = replace(request, skipped_stages=choice.libraries.skipped_stages)
    if isinstance(options, TranslateOptions):
        request = replace(request, budget=budget_of(settings, options.model_group, options.escalate))
    elif isinstance(options, PrepareOptions):
        request = replace(request, budget=budget_of(settings, options.model_group))
    return request


def _allowed_libraries(settings: "Settings", root: Path) -> tuple[bytes, tuple[str, ...]]:
    """Return the LibraryPlan of a project, whose files may name any crate, for the allowed crates, and warnings."""
    content = libraries_of(root)
    if not content:
        return b"", ()
    plan, others = LibraryPlan.model_validate_json(content).allowed(allowed_crates(settings))
    warnings = (NOT_ALLOWED.format(plain(listing(others, NAMES_SHOWN))),) if others else ()
    return plan.model_dump_json().encode(), warnings


def usable_crates(settings: "Settings", choice: FastChoice, libraries: bytes) -> "Collection[str]":
    """Return the crates that bodies may use: those of the plan, or those that the stages of the run may choose."""
    if choice.libraries:
        is_replacing = not set(REPLACING).intersection(choice.libraries.skipped_stages)
        return allowed_crates(settings, choice.libraries.disabled) if is_replacing else ()
    if choice.kind != TRANSPILE or not libraries:
        return ()
    return {name for one in LibraryPlan.model_validate_json(libraries).replaced.values() for name in one.libraries}


def _options(settings: "Settings", plan: CompilePlan, choice: FastChoice) -> FastOptions:
    """Return the options of a run, of the class of its kind."""
    c2rust = settings.c2rust
    options = parse_options_of(
        settings,
        plan,
        OPTIONS.get(choice.kind, FastOptions),
        configure=choice.configure,
        build=choice.build,
        tests=list(choice.tests),
        proof=choice.proof,
        only=list(choice.only),
        forward=choice.forward,
        crate=choice.crate,
        lang=choice.lang,
        build_seconds=c2rust.build_seconds,
        test_seconds=c2rust.test_seconds,
        memory_mb=c2rust.build_memory_mb,
        disk_mb=c2rust.build_disk_mb,
        tool_chains=[str(place) for place in c2rust.tool_chains],
        **(_model_options(settings, choice.model, forward=choice.forward) if choice.model else {}),
        **({"pause_share": c2rust.pause_share} if choice.model and not choice.forward else {}),
        **(_library_options(settings, choice.libraries) if choice.libraries else {}),
    )
    return replace(options, cache=options.cache and choice.cache)


def _model_options(settings: "Settings", choice: ModelChoice, *, forward: bool = False) -> dict[str, Any]:
    model = {
        "model_group": require_model(settings, choice.group, SIGNATURES_WITHOUT_MODEL if forward else WITHOUT_MODEL),
        "agent_limits": agent_limits_of(settings),
    }
    if forward:
        return {**model, "plan_max_retries": settings.c2rust.plan_max_retries}
    return {
        **model,
        "translate": True,
        "max_retries": choice.max_retries,
        "notes": choice.notes,
        "review": choice.review,
        "drivers": choice.drivers,
        "escalate": model_name(settings, choice.escalate) if choice.escalate else None,
        "risky": dict(choice.risky),
    }


def _library_options(settings: "Settings", part: LibraryPart) -> dict[str, Any]:
    return {
        "roots": list(dict.fromkeys(part.roots)),
        "declared": list(part.declared),
        "allowed": list(settings.c2rust.allowed_crates),
        "disabled": list(part.disabled),
        "entries": sorted(delayed_entries()),
        "plan_max_retries": settings.c2rust.plan_max_retries,
        "passes": list(PASSES),
    }


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


def plan_of(root: Path) -> bytes:
    """Return the PlanFiles of a project, b"" for none. Raises UsageError, which names the wrong line."""
    directory = directory_of(root)
    modules, signatures = directory / CRATE_PLAN, directory / SIGNATURES
    plan = PlanFiles(
        modules=read_crate_plan("\n".join(read_lines(modules)), str(modules)) if modules.is_file() else None,
        functions=read_signature_lines(read_lines(signatures), str(signatures)) if signatures.is_file() else {},
    )
    return plan.model_dump_json().encode() if plan != PlanFiles() else b""


def unfinished_run(
    store: "Store", settings: "Settings", root: Path, choice: FastChoice, *, fetch: bool = False
) -> "Run | None":
    """Return the newest run of a project with this choice that can be continued, None if there is none.

    Raises UsageError if crates are to be fetched, and the run has none.
    """
    place = os.fsencode(os.path.realpath(root))
    own: dict[str, Any] = {
        **{name: getattr(choice, name) for name in ("configure", "build", "proof", "crate")},
        **{name: list(getattr(choice, name)) for name in ("tests", "only")},
        **(_model_options(settings, choice.model) if choice.model else {}),
        **(_library_options(settings, choice.libraries) if choice.libraries else {}),
    }
    for run in newest_runs(store, MOST_RUNS, kinds=[choice.kind], root=place):
        if not run.ended:
            options = MoveOptions.of(run)
            is_free = run.state == "paused" or is_abandoned(store, run, settings.lease_seconds)
            if is_free and all(getattr(options, name) == value for name, value in own.items()):
                if fetch and not options.crates:
                    raise UsageError(NO_CRATES.format(run.id))
                return run
    return None


def require_model(settings: "Settings", group: str | None, without: str = WITHOUT_MODEL) -> str:
    """Return the name of the model group. Raises UsageError, which names the command that needs no model: `without`."""
    if group is None and not models_are_set(settings):
        raise UsageError(f"{NO_MODEL}; {without}")
    return model_name(settings, group)


def crate_name(root: Path) -> str:
    """Return the name of the crate in a directory: the name of the directory, converted to a valid crate name.

    Programs refer to the library by its name, which must not be a keyword or a crate of Rust itself.
    """
    name = re.sub(r"[^a-z0-9_]+", "_", root.resolve().name.lower()).strip("_") or "library"
    return name if name[0].isalpha() and name not in KEYWORDS | RUST_CRATES else f"lib{name}"
