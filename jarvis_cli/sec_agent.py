"""Carry out `jarvis sec agent`: scan, and have agents judge what was found; without a model, say so and only scan."""

from dataclasses import dataclass, replace

import typer

from jarvis_cli import estimate, exits
from jarvis_cli.progress import display
from jarvis_cli.report_target import Delivery
from jarvis_cli.scan import Wanted, scan_here, scan_tree
from jarvis_cli.status_output import write_line
from jarvis_workers.errors import UsageError
from jarvis_workers.platforms.groups import ModelGroup
from jarvis_workers.service import wiring
from jarvis_workers.service.estimate import Plan
from jarvis_workers.service.estimate import estimate as estimated
from jarvis_workers.service.models import model_facts, model_name, models_are_set
from jarvis_workers.service.runs import remove_runs
from jarvis_workers.service.submit import Inquiry
from jarvis_workers.settings import Settings

__all__ = ["Asked", "foresee", "inquire"]

NO_MODEL = (
    "no model is set, so the findings are not verified; set OPENAI_API_KEY and OPENAI_MODEL, or models in jarvis.yaml"
)


@dataclass(frozen=True)
class Asked:
    """What the user said of the agents."""

    group: str | None = None
    second_group: str | None = None
    cluster_limit: int = 50
    max_findings: int | None = None
    votes: int = 1
    second_look: bool = False
    canary: bool = False


def inquire(settings: Settings, wanted: Wanted, asked: Asked, report: Delivery, *, detach: bool, quiet: bool) -> int:
    """Scan and judge where the settings say, and report unless the run is detached from this command."""
    if asked.group is None and not models_are_set(settings):
        return scan_tree(settings, replace(wanted, remark=NO_MODEL), report, detach=detach, quiet=quiet)
    inquiry = _inquiry(settings, asked, wanted)
    return scan_tree(settings, replace(wanted, inquiry=inquiry), report, detach=detach, quiet=quiet)


def foresee(settings: Settings, wanted: Wanted, asked: Asked, *, as_json: bool, quiet: bool) -> int:
    """Scan here, and say what judging would take; no model is asked, and no run is left."""
    inquiry = _inquiry(settings, asked, wanted)
    group = model_facts(settings)[inquiry.model_group]
    plan = Plan(
        inquiry.model_group,
        ModelGroup.model_validate(group),
        inquiry.limits,
        language=inquiry.language,
        votes=inquiry.votes,
        second_look=inquiry.second_look,
        cluster_limit=inquiry.cluster_limit,
        max_findings=inquiry.max_findings,
    )
    with wiring.store_of(settings, tell=write_line) as store, display(quiet) as screen:
        run = scan_here(settings, store, wanted, screen)
        if run.state not in ("done", "incomplete"):
            raise UsageError(f"run {run.id} is {run.state}: findings in unscanned files are unknown")
        try:
            unpacked = settings.data_dir / "cache" / "sources"
            found = estimated(store, wiring.blobs_of(settings), run, plan, unpacked=unpacked)
        finally:
            remove_runs(store, [run.id])
    typer.echo(estimate.as_json(found) if as_json else "\n".join(estimate.as_table(found)))
    return exits.DONE if run.state == "done" else exits.INCOMPLETE


def _inquiry(settings: Settings, asked: Asked, wanted: Wanted) -> Inquiry:
    return Inquiry(
        model_group=model_name(settings, asked.group),
        limits=wiring.agent_limits_of(settings),
        language=wanted.language,
        cluster_limit=asked.cluster_limit,
        votes=asked.votes,
        second_group=model_name(settings, asked.second_group) if asked.second_group else None,
        second_look=asked.second_look,
        max_findings=asked.max_findings,
        canary=asked.canary,
    )
