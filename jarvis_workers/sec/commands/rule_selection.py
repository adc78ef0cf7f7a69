"""Determine the rules of a run from flags and settings."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.sec.rules import Rule
from jarvis_workers.sec.rulesets.rule_files import RULES_DIRECTORY
from jarvis_workers.sec.rulesets.rulebook import Rulebook, choose, open_rulebook, select
from jarvis_workers.sec.runs.scan_input import Chosen
from jarvis_workers.settings import FLAG, RulesSettings, Settings, origins

FLAGS = {"rules.enable_only": "--rules", "rules.categories": "--category"}


def book_for(settings: Settings, more: Sequence[Path] = ()) -> Rulebook:
    """Collect all available rules; `more` are files or directories in addition to those of the settings."""
    return open_rulebook([*(Path(path).expanduser() for path in settings.rules.paths), *more])


def rules_for(
    settings: Settings, flags: Mapping[str, object], excluded: str | None = None, tree: Path | None = None
) -> Chosen:
    """Select the rules of a run; `tree` is the scanned directory, if its own rules are trusted."""
    apart = tuple(name.strip() for name in (excluded or "").split(",") if name.strip())
    place = _places(settings, flags)
    return choose(book_for(settings, [tree / RULES_DIRECTORY] if tree else []), settings.rules, apart, place=place)


def enabled_rules(settings: Settings, book: Rulebook) -> tuple[Rule, ...]:
    """Return the rules that the settings enable."""
    return select(book, settings.rules, place=_places(settings, {}))


def tree_of(path: str) -> Path:
    """Return the directory whose `.jarvis/rules` are used; fetched code is excluded. Raises UsageError."""
    tree = Path(path)
    if not tree.is_dir():
        raise UsageError(f"--project-rules: {plain(path)} is not a directory here; name rule files with rules.paths")
    if not (tree / RULES_DIRECTORY).is_dir():
        raise UsageError(f"--project-rules: there is no directory {plain(str(tree / RULES_DIRECTORY))}")
    return tree


def _places(settings: Settings, flags: Mapping[str, object]) -> Callable[[str], str]:
    """Return a function that names the origin of a rule setting: its flag, or the file and name."""
    is_configured = settings.rules != RulesSettings()
    sources = {one.setting: one.source for one in origins(flags, directory=Path.cwd())} if is_configured else {}

    def place(name: str) -> str:
        setting = f"rules.{name}"
        source = sources.get(setting, "")
        return FLAGS.get(setting, setting) if source == FLAG else f"{source}: {setting}"

    return place
