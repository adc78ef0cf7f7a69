"""Carry out `jarvis sec agent`: scan, and have agents judge what was found; without a model, say so and only scan."""

import locale
from dataclasses import dataclass, replace

from jarvis_cli.agent import limits_of
from jarvis_cli.deliver import Delivery
from jarvis_cli.scan import Wanted, scan_tree
from jarvis_workers.service.models import model_name, models_are_set
from jarvis_workers.service.submit import Inquiry
from jarvis_workers.settings import Settings
from jarvis_workers.tools.tool import Language

__all__ = ["Asked", "inquire"]

NO_MODEL = (
    "no model is set: nobody has judged what the rules have found; "
    "set OPENAI_API_KEY and OPENAI_MODEL, or models in jarvis.yaml"
)


@dataclass(frozen=True)
class Asked:
    """What the user said of the agents; a `language` of None is that of the locale."""

    group: str | None = None
    second_group: str | None = None
    cluster_limit: int = 50
    max_findings: int | None = None
    votes: int = 1
    second_look: bool = False
    language: Language | None = None
    canary: bool = False


def inquire(settings: Settings, wanted: Wanted, asked: Asked, report: Delivery, *, detach: bool, quiet: bool) -> int:
    """Scan and judge where the settings say, and report unless the run is detached from this command."""
    if asked.group is None and not models_are_set(settings):
        return scan_tree(settings, replace(wanted, remark=NO_MODEL), report, detach=detach, quiet=quiet)
    inquiry = Inquiry(
        model_group=model_name(settings, asked.group),
        limits=limits_of(settings),
        language=asked.language or language_of_locale(),
        cluster_limit=asked.cluster_limit,
        votes=asked.votes,
        second_group=model_name(settings, asked.second_group) if asked.second_group else None,
        second_look=asked.second_look,
        max_findings=asked.max_findings,
        canary=asked.canary,
    )
    return scan_tree(settings, replace(wanted, inquiry=inquiry), report, detach=detach, quiet=quiet)


def language_of_locale() -> Language:
    """Return the language that the user's environment asks for, as far as there are texts in it."""
    name = locale.setlocale(locale.LC_CTYPE, None)
    return "zh" if name.lower().startswith("zh") else "en"
