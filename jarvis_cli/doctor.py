"""`jarvis doctor`: check the installation and the machine."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.app import App
from jarvis_cli.kit.colour import use_colour
from jarvis_cli.kit.options import AsJson, TableForm, is_json
from jarvis_cli.kit.program_trust import approve_programs
from jarvis_workers.errors import BrokerRefused, JarvisError
from jarvis_workers.runs.health.agents import SandboxFacts, examine_agents
from jarvis_workers.runs.health.analyzers import examine_analyzers
from jarvis_workers.runs.health.c_reading import examine_c_reading
from jarvis_workers.runs.health.doctor import REFUSED_REMEDY, Check, examine, examine_blobs, fit, this_machine
from jarvis_workers.runs.health.needed_extras import OBJECT_STORES, missing_extras
from jarvis_workers.runs.run_list import is_current_store
from jarvis_workers.settings import Settings, load_settings
from jarvis_workers.source.match import engines
from jarvis_workers.store.revisions import REVISIONS

app = App()

EXAMPLES = """
jarvis doctor                               exit 2 if something is broken
jarvis doctor --json | jq '.[] | select(.state != "ok")'
"""

CURRENT = f" (schema {REVISIONS[-1]}, up to date)"
# By state: the mark, its color, and whether it is bold.
MARKS = {"ok": ("✓", "green", False), "warn": ("!", "magenta", True), "fail": ("✗", "red", True)}


@app.command(uses="none", examples=EXAMPLES)
def doctor(as_json: AsJson = False, form: TableForm = None) -> int:
    """Check the installation; exit 2 on an error, 0 on warnings."""
    as_json = is_json(form, as_json)
    approve_programs(ask=False)
    settings = load_settings(directory=Path.cwd())

    def probe_store() -> str:
        if is_current_store(settings):
            return f"{settings.effective_store_url}{CURRENT}"
        # The database libraries are slow to import.
        from jarvis_workers.runs.wiring import schema_status_of, store_of  # noqa: PLC0415

        status = schema_status_of(settings)
        if status.state == "missing" and status.where.startswith("sqlite"):
            return f"{status.where}: no results store yet; the first run creates it"
        with store_of(settings, create=False) as store:
            return f"{store.where}{CURRENT}"

    absent = missing_extras(settings)
    checks = examine(
        settings, this_machine(settings.data_dir), probe_store=probe_store, probe_matcher=lambda: engines()[0]
    )
    checks += examine_c_reading(settings)
    checks += absent.values()
    if not absent.keys() & OBJECT_STORES.values():
        checks += examine_blobs(settings)
    checks += examine_agents(settings, _sandbox_facts)
    checks += examine_analyzers()
    if settings.broker_url and not absent.keys() & {"cluster", "postgres"}:
        checks += _examine_cluster(settings)
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in checks], indent=2, ensure_ascii=False))
    else:
        _show(checks)
    return exits.DONE if fit(checks) else exits.FAILED


def _sandbox_facts() -> SandboxFacts:
    from jarvis_workers.sandbox.sandbox import RUNNING, allotments, refusal  # noqa: PLC0415  (slow to import)

    return SandboxFacts({str(tier): refusal(tier) for tier in RUNNING}, allotments())


def _examine_cluster(settings: Settings) -> list[Check]:
    from jarvis_workers.runs import remote  # noqa: PLC0415
    from jarvis_workers.runs.wiring import store_of  # noqa: PLC0415

    try:
        with store_of(settings, create=False) as store:
            return remote.examine(settings, store)
    except BrokerRefused as error:
        return [Check("broker", "fail", str(error), REFUSED_REMEDY)]
    except JarvisError as error:
        return [Check("cluster", "fail", str(error), "see above")]


def _show(checks: Sequence[Check]) -> None:
    width = max(len(check.name) for check in checks)
    for check in checks:
        mark, color, bold = MARKS[check.state]
        line = f"{typer.style(mark, fg=color, bold=bold)} {check.name:<{width}}  {check.says}"
        typer.echo(line, color=use_colour(sys.stdout))
        if check.remedy:
            typer.echo(f"  {'':<{width}}  → {check.remedy}")
