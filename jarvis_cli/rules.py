"""`jarvis sec rules` and `jarvis sec explain`: what rules there are, what each means, and whether they hold."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jarvis_cli import exits
from jarvis_cli.language import language_of
from jarvis_cli.options import Lang
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain

if TYPE_CHECKING:
    from jarvis_workers.sec.rules import Rule
    from jarvis_workers.service.rulebook import Rulebook
    from jarvis_workers.settings import Settings

app = typer.Typer(rich_markup_mode=None, invoke_without_command=True, help="List the rules, or test some of your own.")

EXAMPLES = """\
\b
Examples:
  jarvis sec rules                                what there is
  jarvis sec rules --language rust
  jarvis sec rules --format json | jq '.[].id'
  jarvis sec rules test .jarvis/rules             try your own on their examples
  jarvis sec rules --stats                        how findings were judged, and what that says of the rules
  jarvis sec explain unsafe_api                   what a rule means
  jarvis sec explain unsafe_api --lang zh         the same in Chinese
"""
FORMS = ("table", "json", "markdown")


@app.callback(epilog=EXAMPLES)
def rules(
    ctx: typer.Context,
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help="table, json or markdown.")] = "table",
    language: Annotated[str | None, typer.Option(metavar="NAME", help="Only of c/cpp, or of rust.")] = None,
    category: Annotated[str | None, typer.Option(metavar="NAME", help="Only of this category.")] = None,
    as_stats: Annotated[bool, typer.Option("--stats", help="How findings were judged (jarvis sec triage).")] = False,
    lang: Lang = None,
) -> int | None:
    """List the rules: those built in, of installed packages, and of the files in rules.paths."""
    if ctx.invoked_subcommand:
        return None
    from jarvis_cli.choice import book_for  # noqa: PLC0415  (settings are slow to import)
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    if form not in FORMS or (as_stats and form == "markdown"):
        forms = FORMS[:2] if as_stats else FORMS
        raise UsageError(f'--format: "{plain(form)}" is not one of {", ".join(forms)}')
    settings = load_settings(directory=Path.cwd())
    book = book_for(settings)
    chosen = _narrowed(book, language, category)
    if as_stats:
        from jarvis_cli.stats import stats  # noqa: PLC0415  (the store takes a third of a second to import)

        typer.echo(stats(settings, chosen, form))
    else:
        typer.echo(_listed(settings, book, chosen, (form, language_of(lang))), nl=form != "markdown")
    return exits.DONE


def _narrowed(book: "Rulebook", language: str | None, category: str | None) -> list["Rule"]:
    from jarvis_workers.sec.handbook import in_order  # noqa: PLC0415

    listed = in_order(book.rules)
    for asked, known, flag in (
        (language, {rule.language for rule in listed}, "--language"),
        (category, {rule.category for rule in listed}, "--category"),
    ):
        if asked is not None and asked not in known:
            raise UsageError(f'{flag}: "{plain(asked)}" is not one of {", ".join(sorted(known))}')
    return [rule for rule in listed if language in (None, rule.language) and category in (None, rule.category)]


def _listed(settings: "Settings", book: "Rulebook", chosen: Sequence["Rule"], asked: tuple[str, str]) -> str:
    from jarvis_cli.choice import rules_on  # noqa: PLC0415
    from jarvis_cli.explain import table, words_in  # noqa: PLC0415
    from jarvis_workers.sec.handbook import about, as_markdown  # noqa: PLC0415
    from jarvis_workers.sec.wording import rule_in  # noqa: PLC0415

    form, language = asked
    chosen, say = [rule_in(language, rule) for rule in chosen], words_in(language)
    on = {rule.pattern for rule in rules_on(settings, book)}
    severities = settings.rules.severity
    if form == "markdown":
        return as_markdown(chosen, say)
    if form == "json":
        rows = [about(rule) | _state(rule.pattern, rule.pattern in on, severities.get(rule.pattern)) for rule in chosen]
        return json.dumps(rows, indent=2, ensure_ascii=False)
    return table(chosen, on, severities, say)


def _state(pattern: str, on: bool, severity: str | None) -> dict[str, Any]:
    return {"on": on, **({"severity": severity} if severity else {})}


def explain(rule: Annotated[str, typer.Argument(metavar="ID", help="The id of a rule.")], lang: Lang = None) -> int:
    """Say what a rule means, why it matters, what to do, and how to silence it."""
    from jarvis_cli.choice import book_for  # noqa: PLC0415
    from jarvis_cli.explain import page, words_in  # noqa: PLC0415
    from jarvis_workers.sec.wording import rule_in  # noqa: PLC0415
    from jarvis_workers.service.rulebook import find_rule  # noqa: PLC0415
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    settings = load_settings(directory=Path.cwd())
    found = find_rule(book_for(settings), rule)
    language = language_of(lang)
    typer.echo(page(rule_in(language, found), settings.rules.severity.get(found.pattern), words_in(language)))
    return exits.DONE


@app.command("test", short_help="Try rules on marked examples.")
def try_rules_on_examples(
    path: Annotated[
        str | None,
        typer.Argument(metavar="PATH", help="A directory of rules and examples, a rule file, or an example."),
    ] = None,
) -> int:
    """Try rules on examples that are marked with "ruleid: ID" and "ok: ID"; exit 1 when some do not hold.

    Without PATH, try every rule on the bad and the good example of its own.
    """
    from jarvis_cli.choice import book_for  # noqa: PLC0415
    from jarvis_workers.service.ruletests import rules_in, try_files, try_rules  # noqa: PLC0415
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    settings = load_settings(directory=Path.cwd())
    if path is None:
        result = try_rules(book_for(settings))
    else:
        result = try_files(book_for(settings, rules_in(Path(path))), Path(path))
    for line in (*result.notes, *result.failures):
        typer.echo(plain(line))
    typer.echo(_verdict(result.said, len(result.failures)))
    return exits.FINDINGS if result.failures else exits.DONE


def _verdict(said: str, failures: int) -> str:
    return f"{said}: " + (f"{failures:,} failed" if failures else "all hold")
