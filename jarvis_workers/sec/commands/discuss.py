"""`jarvis sec ask` and `jarvis sec dispute`: talk about a finding with an agent that has the code at hand."""

from dataclasses import dataclass, replace
from typing import Annotated

import typer

from jarvis_cli.kit.completion import runs
from jarvis_cli.kit.language import TextLanguage, language_of
from jarvis_cli.kit.options import AnswerForm, AnswerOutput, Budget, FormJson, Group, Quiet, Where, form_of

ASK_EXAMPLES = """\
\b
Examples:
  jarvis sec ask C3fa81b 'Who calls this with a length from the network?'
  jarvis sec ask C3fa81b 'Why is this a risk?' --run 5e7f04c1
"""
DISPUTE_EXAMPLES = """\
\b
Examples:
  jarvis sec dispute C3fa81b 'the caller checks the length'
  jarvis sec triage last --mark C3fa81b=false --reason 'checked in read_header'   to record your own decision

\b
The finding is verified again; what you say is a claim to check. A dismissal needs code that shows it. The report of the
earlier run stays as it is.
"""

FindingId = Annotated[str, typer.Argument(metavar="ID", help="Id or fingerprint of the finding.")]
Question = Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know.")]
Claim = Annotated[str, typer.Argument(metavar="CLAIM", help="Why you think that the verdict is wrong.")]
InRun = Annotated[
    str | None,
    typer.Option("--run", metavar="RUN", help="The run; default: the newest with this finding.", autocompletion=runs),
]


@dataclass(frozen=True)
class DiscussOptions:
    """The options of both commands."""

    run: InRun = None
    group: Group = None
    budget: Budget = None
    lang: TextLanguage = None
    output: AnswerOutput = None
    form: AnswerForm = None
    as_json: FormJson = False
    where: Where = None
    quiet: Quiet = False


def ask(ctx: typer.Context, options: DiscussOptions, finding: FindingId, question: Question) -> int:
    """Ask about a finding: an agent answers from the code, and says where it looked."""
    return _discuss("ask", finding, question, options)


def dispute(ctx: typer.Context, options: DiscussOptions, finding: FindingId, claim: Claim) -> int:
    """Have a finding verified again, with your objection as a claim to check."""
    return _discuss("dispute", finding, claim, options)


def _discuss(kind: str, named: str, text: str, options: DiscussOptions) -> int:
    from jarvis_cli.kit.answer_output import check_format, deliver  # noqa: PLC0415
    from jarvis_cli.kit.project_run import FollowUpCommand, execute_run, project_settings  # noqa: PLC0415
    from jarvis_cli.kit.report_target import delivery as delivery_of  # noqa: PLC0415
    from jarvis_cli.kit.status_output import write_line  # noqa: PLC0415
    from jarvis_workers.runs import wiring  # noqa: PLC0415
    from jarvis_workers.runs.scan_request import blobs_of  # noqa: PLC0415
    from jarvis_workers.sec.triage.discussions import discussion_request  # noqa: PLC0415
    from jarvis_workers.sec.triage.queue import find_issue  # noqa: PLC0415

    settings = project_settings({"where": options.where, "agent.budget": options.budget}, detach=False)
    target = delivery_of(options.output, form_of(options.form, options.as_json), None, None, quiet=options.quiet)
    check_format(target.form)
    with wiring.store_of(settings, tell=write_line, create=False) as store:
        found = find_issue(store, blobs_of(settings), named, options.run)
    request = discussion_request(settings, kind, found, text, options.group, language_of(options.lang))
    run_options = replace(request.options, **target.run_options)
    command = FollowUpCommand(
        found[0],
        replace(request, options=run_options),
        lambda stored, screen: deliver(stored, target, screen),
        quiet=options.quiet,
    )
    return execute_run(settings, command)
