"""What a user asks for when a project is converted: options, the stages left out, and what this machine needs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from jarvis_workers.agents.conversations.options import ConversationOptions
from jarvis_workers.builds.recorded_build import command_words
from jarvis_workers.c2rust.optimization import PASSES
from jarvis_workers.c2rust.runs.project_files import delayed_entries
from jarvis_workers.c2rust.stages.options import FastOptions, MoveOptions, PrepareOptions, TranslateOptions
from jarvis_workers.c2rust.stages.pipelines import FAST, PREPARE, RUN, SKELETON, TRANSPILE
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.conversation_limits import agent_limits_of
from jarvis_workers.runs.models import model_name, models_are_set
from jarvis_workers.runs.scan_request import with_settings
from jarvis_workers.sandbox.sandbox import best_tier, refusal
from jarvis_workers.toolchain.cargo import find_rust

if TYPE_CHECKING:
    from jarvis_workers.settings import Settings

Options = TypeVar("Options", bound=FastOptions)
# The stages that replace functions, and those that optimize the crate, the latter with a model.
REPLACING, IMPROVING = ("replace", "prune"), ("improve",)
OPTIMIZING = ("optimize", *IMPROVING)
NO_MODEL = "this command asks a model: set OPENAI_API_KEY and OPENAI_MODEL, or models in jarvis.yaml"
WITHOUT_MODEL = "to convert a library without a model: jarvis c2rust fast"
SIGNATURES_WITHOUT_MODEL = "for signatures without a model: jarvis c2rust skeleton"


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


def require_model(settings: "Settings", group: str | None, without: str = WITHOUT_MODEL) -> str:
    """Return the name of the model group. Raises UsageError, which names the command that needs no model: `without`."""
    if group is None and not models_are_set(settings):
        raise UsageError(f"{NO_MODEL}; {without}")
    return model_name(settings, group)


def require_tools(settings: "Settings") -> None:
    """Raise UsageError if this machine must build and test crates but lacks cargo or a sandbox."""
    if settings.place == "local":
        find_rust()
        if why := refusal(best_tier()):
            raise UsageError(f"projects are built and tested only in the sandbox: {why}")
