"""Resolve the options of a scan and the settings to its request.

Slow imports are avoided, since the scan of a small tree takes no longer than some of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import typer

from jarvis_cli.kit.language import language_of
from jarvis_cli.kit.options import form_of, joined
from jarvis_cli.kit.report_target import delivery
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.labels import parse_labels
from jarvis_workers.runs.sources import is_address
from jarvis_workers.runs.targets import ScanTarget, target_of
from jarvis_workers.runs.trusted_scope import load_scan_settings
from jarvis_workers.runs.unscanned_sources import ScanPaths
from jarvis_workers.sec.commands.scan_options import ScanCommandOptions
from jarvis_workers.sec.commands.scan_request import ScanRequest
from jarvis_workers.sec.runs.scan_input import ScanInput
from jarvis_workers.sec.runs.scan_settings import with_scan_settings
from jarvis_workers.sec.severity import SEVERITIES
from jarvis_workers.sec.stages.options import SecOptions

LOCAL_DETACHED = (
    "--detach needs a cluster (JARVIS_BROKER_URL): a local run is executed by this command; "
    "leave it out, or run the command in the background"
)
NO_MORE: Mapping[str, object] = {}


def resolve(
    options: ScanCommandOptions, default_output: Path | None, more: Mapping[str, object] = NO_MORE
) -> ScanRequest:
    """Check the options, and read the settings, before any work is done; `more` are settings given by other options.

    The request of plain options has the built-in rules; see `with_rules`. Raises UsageError.
    """
    flags = {**_flags_of(options), **more}
    form = form_of(options.form, options.as_json)
    names = () if any(map(is_address, options.names)) else tuple(options.names) or (".",)
    paths = ScanPaths(names, options.root, *options.globs)
    settings = load_scan_settings(flags, directory=Path.cwd(), named=options.deciding_files, scan=paths)
    if options.detach and settings.place == "local":
        raise UsageError(LOCAL_DETACHED)
    report = delivery(
        options.output,
        form,
        options.fail_on,
        default_output,
        quiet=options.quiet,
        verbose=options.verbose,
        relative_to=options.relative_to,
        levels=SEVERITIES,
    )
    given = SecOptions.decode(options.options.encode())  # without those of agents
    return ScanRequest(
        settings,
        options.names,
        report,
        ScanInput(with_scan_settings(settings, given, lang=language_of(options.lang), **report.run_options)),
        options.globs,
        options.baseline,
        options.since,
        labels=parse_labels(options.label or ()),
        name=options.name,
        detach=options.detach,
        root=options.root,
        flags=flags,
        compile_commands=options.compile_commands,
    )


def with_rules(request: ScanRequest, options: ScanCommandOptions) -> ScanRequest:
    """Return the request with the rules, triage verdicts and macros of its options and settings. Raises UsageError.

    The user is told what changes the scope of the scan.
    """
    from jarvis_workers.runs.named_runs import check_name  # noqa: PLC0415
    from jarvis_workers.sec.commands.named_files import alerts_of, triage_of_options  # noqa: PLC0415
    from jarvis_workers.sec.commands.rule_selection import rules_for, tree_of  # noqa: PLC0415  (the rules and the store are slow to import)

    settings, flags, excluded = request.settings, _flags_of_rules(options), joined(options.exclude_rules)
    tree = tree_of(request.target.root) if options.project_rules else None
    scan_input = replace(
        request.scan_input,
        rules=rules_for(settings, flags, excluded, tree),
        alerts=alerts_of(options.findings, quiet=options.quiet) if options.findings else None,
        triage=triage_of_options(options.triage, nobody=options.no_triage, learned=settings.rules.learned),
        build=_build_flags(request.target, options.compile_commands) if options.compile_commands else None,
    )
    name = check_name(request.name) if request.name is not None else None
    target_of(request.names, request.root)  # raises its error before the notice
    if request.notice and not options.quiet:
        typer.echo(f"jarvis: {request.notice}", err=True)
    return replace(request, scan_input=scan_input, name=name)


def _flags_of(options: ScanCommandOptions) -> dict[str, object]:
    """Return the settings that are given by options. Raises UsageError for an empty value."""
    _refuse_empty("--witness", options.witness, "list the analyzers with: jarvis doctor")
    return {
        **options.flags,
        **_flags_of_rules(options),
        "scan.languages": joined(options.languages),
        "scan.witness": joined(options.witness),
        "scan.exclude_dirs": None if options.default_excludes else (".jarvis",),
        "cache.max_mb": None if options.cache else 0.0,
    }


def _flags_of_rules(options: ScanCommandOptions) -> dict[str, object]:
    """Return the rule settings given by flags. Raises UsageError for an empty value, such as an unset variable."""
    values = {"--rules": options.rules, "--exclude-rules": options.exclude_rules, "--category": options.only}
    for flag, names in values.items():
        _refuse_empty(flag, names, "list the rules with: jarvis sec rules")
    # Rules named explicitly are enabled even if the settings disable them.
    disable = () if options.rules else None
    return {
        "rules.enable_only": joined(options.rules),
        "rules.disable": disable,
        "rules.categories": joined(options.only),
        "rules.depth": options.depth,
    }


def _refuse_empty(flag: str, names: Sequence[str] | None, hint: str) -> None:
    if names and not all(name.strip(" ,") for name in names):
        raise UsageError(f"{flag} is empty; {hint}")


def _build_flags(target: ScanTarget, compile_commands: Path) -> bytes:
    """Return the flags with which the files are compiled."""
    from jarvis_workers.sec.runs.scan_flags import flags_of_files  # noqa: PLC0415  (rarely needed)

    if target.is_address:
        raise UsageError("--compile-commands needs a directory on this machine: clone the repository first")
    return flags_of_files(Path(target.root), compile_commands)
