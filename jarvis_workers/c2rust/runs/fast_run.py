"""Submit a run that converts a C project to Rust, without or with a model, or gives its functions Rust signatures."""

import os
import re
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from jarvis_workers.agents.conversations.options import ConversationOptions
from jarvis_workers.builds.compile_sources import CompilePlan
from jarvis_workers.builds.project_archive import pack_project
from jarvis_workers.builds.recorded_build import command_words
from jarvis_workers.c2rust.function_uses import function_uses
from jarvis_workers.c2rust.library_plan import NAMES_SHOWN, LibraryPlan, plan_of_files
from jarvis_workers.c2rust.optimization import PASSES
from jarvis_workers.c2rust.plan_files import PlanFiles, read_crate_plan, read_signature_lines
from jarvis_workers.c2rust.runs.project_files import (
    CRATE_PLAN,
    RAW_SYMBOLS,
    SIGNATURES,
    SYMBOLS,
    delayed_entries,
    directory_of,
    read_lines,
    read_symbol_file,
)
from jarvis_workers.c2rust.runs.symbol_scan import ParseInput, project_request, with_plan
from jarvis_workers.c2rust.runs.vendored_sources import allowed_crates, pack_crates
from jarvis_workers.c2rust.rust_names import KEYWORDS
from jarvis_workers.c2rust.stages.options import (
    FastOptions,
    MoveOptions,
    PrepareOptions,
    TranslateOptions,
    encode_commands,
)
from jarvis_workers.c2rust.stages.pipelines import FAST, PREPARE, RUN, SKELETON, TRANSPILE
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import listing, plain
from jarvis_workers.runs.budgets import budget_of
from jarvis_workers.runs.conversation_limits import agent_limits_of
from jarvis_workers.runs.models import model_name, models_are_set
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.runs import is_abandoned, newest_runs
from jarvis_workers.runs.scan_request import with_settings
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.sandbox.sandbox import best_tier, refusal
from jarvis_workers.toolchain.cargo import find_rust

if TYPE_CHECKING:
    from collections.abc import Collection

    from jarvis_workers.settings import Settings
    from jarvis_workers.snapshots.selection import Selection
    from jarvis_workers.store.engine import Store
    from jarvis_workers.store.values import Run

# What an unfinished run must have in common with a command that continues it.
OF_A_COMMAND = (
    *("configure", "build", "proof", "crate", "tests", "only"),
    *("model_group", "agent_limits", "translate", "max_retries", "notes", "review", "drivers", "escalate", "risky"),
    *("roots", "declared", "allowed", "disabled", "entries", "plan_max_retries", "passes"),
)
RUST_CRATES = frozenset(("alloc", "core", "proc_macro", "std", "test"))


Options = TypeVar("Options", bound=FastOptions)
MOST_RUNS = 200
# The stages that replace functions, and those that optimize the crate, the latter with a model.
REPLACING, IMPROVING = ("replace", "prune"), ("improve",)
OPTIMIZING = ("optimize", *IMPROVING)
NO_MODEL = "this command asks a model: set OPENAI_API_KEY and OPENAI_MODEL, or models in jarvis.yaml"
WITHOUT_MODEL = "to convert a library without a model: jarvis c2rust fast"
SIGNATURES_WITHOUT_MODEL = "for signatures without a model: jarvis c2rust skeleton"
NO_CRATES = "--fetch-crates: run {} goes on without crates; leave the option out, or begin a new run with --no-resume"
NOT_ALLOWED = f"{SYMBOLS}: what these crates replace is translated, since they are not in c2rust.allowed_crates: {{}}"


@dataclass(frozen=True, kw_only=True)
class ConversionRequest:
    """The options that a user gives for a run that converts a project, and the stages that it leaves out.

    The class of the options decides the kind of the run: those of all stages, of a model that translates, or that plans
    modules and signatures, or of none.
    """

    options: FastOptions
    skipped_stages: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of the run."""
        match self.options:
            case MoveOptions():
                return RUN
            case PrepareOptions():
                return PREPARE
            case TranslateOptions():
                return TRANSPILE
        return SKELETON if self.options.forward else FAST

    @property
    def model_groups(self) -> tuple[str | None, ...] | None:
        """The model groups that the run may call, None for a run without a model."""
        match self.options:
            case TranslateOptions():
                return self.options.model_group, self.options.escalate
            case PrepareOptions():
                return (self.options.model_group,)
        return None

    @property
    def identity(self) -> dict[str, Any]:
        """The values that identify a named run; a new option must be left out at its default, or all names change."""
        options = self.options
        names = ("configure", "build", "tests", "proof", "only", "forward", "crate", "cache")
        model, libraries = None, None
        if self.model_groups is not None:
            given = options if isinstance(options, TranslateOptions) else TranslateOptions()
            of_model = ("max_retries", "notes", "review", "escalate", "risky", "drivers")
            model = {"group": self.model_groups[0], **{name: getattr(given, name) for name in of_model}}
        if isinstance(options, MoveOptions):
            libraries = {name: getattr(options, name) for name in ("roots", "declared", "disabled")}
            libraries["skipped_stages"] = self.skipped_stages
        return {**{name: getattr(options, name) for name in names}, "model": model, "libraries": libraries}


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


def check_conversion(settings: "Settings", request: ConversionRequest) -> None:
    """Raise UsageError if a model, a command or a tool is missing."""
    options, groups = request.options, request.model_groups
    if groups:
        require_model(settings, groups[0], SIGNATURES_WITHOUT_MODEL if options.forward else WITHOUT_MODEL)
        for group in filter(None, groups[1:]):
            require_model(settings, group)
    if options.tests and not options.build:
        raise UsageError("--test requires --build, the command that builds the programs under test")
    for command in options.tests:
        command_words("--test", command)
    require_tools(settings)


def fast_request(
    conversion: ConversionRequest, settings: "Settings", source: SourceTree, plan: CompilePlan, executor: str
) -> RunRequest[FastInput]:
    """Return the request for a run that converts a project according to its compile plan. Raises UsageError."""
    kind, archive = conversion.kind, pack_project(source.path, settings.c2rust.build_disk_mb)
    libraries, warnings = _allowed_libraries(settings, source.path) if kind in (PREPARE, TRANSPILE) else (b"", ())
    options = with_plan(
        settings, completed(settings, conversion.options), replace(plan, warnings=(*plan.warnings, *warnings))
    )
    planned = plan_of(source.path) if kind == TRANSPILE else b""
    crates = pack_crates(settings, source.path, usable_crates(settings, conversion, libraries))
    given = FastInput(options, encode_commands(plan.commands), archive, libraries, planned, crates)
    request = project_request(settings, source, plan, kind, executor, given)
    groups = replace(conversion, options=options).model_groups
    budget = budget_of(settings, *groups) if groups else None
    return replace(request, skipped_stages=conversion.skipped_stages, budget=budget)


def _allowed_libraries(settings: "Settings", root: Path) -> tuple[bytes, tuple[str, ...]]:
    """Return the LibraryPlan of a project, whose files may name any crate, for the allowed crates, and warnings."""
    content = libraries_of(root)
    if not content:
        return b"", ()
    plan, others = LibraryPlan.model_validate_json(content).allowed(allowed_crates(settings))
    warnings = (NOT_ALLOWED.format(plain(listing(others, NAMES_SHOWN))),) if others else ()
    return plan.model_dump_json().encode(), warnings


def usable_crates(settings: "Settings", conversion: ConversionRequest, libraries: bytes) -> "Collection[str]":
    """Return the crates that bodies may use: those of the plan, or those that the stages of the run may choose."""
    if isinstance(conversion.options, MoveOptions):
        is_replacing = not set(REPLACING).intersection(conversion.skipped_stages)
        return allowed_crates(settings, conversion.options.disabled) if is_replacing else ()
    if conversion.kind != TRANSPILE or not libraries:
        return ()
    return {name for one in LibraryPlan.model_validate_json(libraries).replaced.values() for name in one.libraries}


def completed(settings: "Settings", options: Options) -> Options:
    """Return the options that a user gives, completed by the settings. Raises UsageError without the model."""
    more: dict[str, Any] = {"tool_chains": [str(place) for place in settings.c2rust.tool_chains]}
    if isinstance(options, ConversationOptions):
        without = SIGNATURES_WITHOUT_MODEL if options.forward else WITHOUT_MODEL
        more |= {"model_group": require_model(settings, options.model_group, without)}
        more |= {"agent_limits": agent_limits_of(settings)}
    if isinstance(options, TranslateOptions):
        escalate = model_name(settings, options.escalate) if options.escalate else None
        more |= {"translate": True, "escalate": escalate}
    if isinstance(options, MoveOptions):
        more |= {"roots": list(dict.fromkeys(options.roots)), "allowed": list(settings.c2rust.allowed_crates)}
        more |= {"entries": sorted(delayed_entries()), "passes": list(PASSES)}
    return with_settings(settings, options, **more)


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
    store: "Store", settings: "Settings", root: Path, conversion: ConversionRequest, *, fetch: bool = False
) -> "Run | None":
    """Return the newest run of a project with these options that can be continued, None if there is none.

    Raises UsageError if crates are to be fetched, and the run has none.
    """
    place, own = os.fsencode(os.path.realpath(root)), completed(settings, conversion.options)
    for run in newest_runs(store, MOST_RUNS, kinds=[conversion.kind], root=place):
        if not run.ended:
            options = MoveOptions.of(run)
            is_free = run.state == "paused" or is_abandoned(store, run, settings.lease_seconds)
            if is_free and all(getattr(options, name) == getattr(own, name) for name in OF_A_COMMAND):
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
