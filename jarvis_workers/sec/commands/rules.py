"""`jarvis sec rules` and `jarvis sec explain`: list, explain and test rules."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.app import App
from jarvis_cli.kit.colour import use_colour
from jarvis_cli.kit.language import TextLanguage, language_of
from jarvis_cli.kit.options import AsJson, form_of, not_one_of
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.sec.commands.rule_completion import categories, languages
from jarvis_workers.sec.commands.rule_completion import rules as every_rule

if TYPE_CHECKING:
    from jarvis_workers.sec.rules import Rule
    from jarvis_workers.sec.rulesets.rulebook import Rulebook
    from jarvis_workers.settings import Settings

app = App(invoke_without_command=True, help="List the rules, or test your own.")

EXAMPLES = """\
\b
Examples:
  jarvis sec rules                            all rules
  jarvis sec rules --language rust
  jarvis sec rules --category crypto --json | jq '.[].id'
  jarvis sec rules --stats                    how their findings were judged
  jarvis sec rules test .jarvis/rules         test your own on their examples
  jarvis sec explain unsafe_api               what a rule means
"""
EXPLAIN_EXAMPLES = """
jarvis sec explain unsafe_api
jarvis sec explain unsafe_api --lang zh     in Chinese
"""
TEST_EXAMPLES = """
jarvis sec rules test                       all rules, on their own examples
jarvis sec rules test .jarvis/rules
"""
FORMS = ("table", "json", "markdown")


Form = Annotated[str | None, typer.Option("--format", metavar="FORMAT", help="table (default), json or markdown.")]
Language = Annotated[
    str | None,
    typer.Option("--language", metavar="NAME", help="Only rules for c/cpp or rust.", autocompletion=languages),
]
Category = Annotated[
    str | None,
    typer.Option(
        "--category", "--only", metavar="NAME", help="Only rules of this category.", autocompletion=categories
    ),
]
Stats = Annotated[bool, typer.Option("--stats", help="Statistics of triage verdicts (jarvis sec triage).")]


@app.callback(epilog=EXAMPLES)
def rules(
    ctx: typer.Context,
    form: Form = None,
    as_json: AsJson = False,
    language: Language = None,
    category: Category = None,
    as_stats: Stats = False,
    lang: TextLanguage = None,
) -> int | None:
    """List the rules: built-in rules, those of installed packages, and those of the files in rules.paths."""
    if ctx.invoked_subcommand:
        return None
    from jarvis_workers.sec.commands.rule_selection import book_for  # noqa: PLC0415  (settings are slow to import)
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    form = form_of(form, as_json) or "table"
    forms = FORMS[:2] if as_stats else FORMS
    if form not in forms:
        raise UsageError(not_one_of("--format", form, forms))
    settings = load_settings(directory=Path.cwd())
    book = book_for(settings)
    selection = _narrowed(book, language, category)
    if as_stats:
        from jarvis_workers.sec.commands.stats import stats  # noqa: PLC0415  (the store takes a third of a second to import)

        typer.echo(stats(settings, selection, form))
    else:
        typer.echo(_listed(settings, book, selection, (form, language_of(lang))), nl=form != "markdown")
    return exits.DONE


def _narrowed(book: "Rulebook", language: str | None, category: str | None) -> list["Rule"]:
    from jarvis_workers.sec.rule_docs import in_order  # noqa: PLC0415

    listed = in_order(book.rules)
    for value, values, flag in (
        (language, {rule.language for rule in listed}, "--language"),
        (category, {rule.category for rule in listed}, "--category"),
    ):
        if value is not None and value not in values:
            raise UsageError(not_one_of(flag, value, sorted(values)))
    return [rule for rule in listed if language in (None, rule.language) and category in (None, rule.category)]


def _listed(settings: "Settings", book: "Rulebook", rules: Sequence["Rule"], columns: tuple[str, str]) -> str:
    from jarvis_cli.kit.terminal_page import words_in  # noqa: PLC0415
    from jarvis_workers.sec.commands.explain import table  # noqa: PLC0415
    from jarvis_workers.sec.commands.rule_selection import enabled_rules  # noqa: PLC0415
    from jarvis_workers.sec.rule_docs import about, as_markdown  # noqa: PLC0415
    from jarvis_workers.sec.translations import rule_in  # noqa: PLC0415

    form, language = columns
    rules, say = [rule_in(language, rule) for rule in rules], words_in(language)
    on = {rule.pattern for rule in enabled_rules(settings, book)}
    severities = settings.rules.severity
    if form == "markdown":
        return as_markdown(rules, say)
    if form == "json":
        rows = [about(rule) | _state(rule.pattern, rule.pattern in on, severities.get(rule.pattern)) for rule in rules]
        return json.dumps(rows, indent=2, ensure_ascii=False)
    return table(rules, on, severities, say)


def _state(pattern: str, on: bool, severity: str | None) -> dict[str, Any]:
    return {"on": on, **({"severity": severity} if severity else {})}


def explain(
    rule: Annotated[str, typer.Argument(metavar="RULE", help="Id of a rule.", autocompletion=every_rule)],
    lang: TextLanguage = None,
) -> int:
    """Explain a rule: what it finds, why it matters, how to fix it and how to suppress it."""
    from jarvis_cli.kit.terminal_page import words_in  # noqa: PLC0415
    from jarvis_workers.sec.commands.explain import page  # noqa: PLC0415
    from jarvis_workers.sec.commands.rule_selection import book_for  # noqa: PLC0415
    from jarvis_workers.sec.rulesets.rulebook import find_rule  # noqa: PLC0415
    from jarvis_workers.sec.translations import rule_in  # noqa: PLC0415
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    settings = load_settings(directory=Path.cwd())
    target = find_rule(book_for(settings), rule)
    language = language_of(lang)
    shown = page(rule_in(language, target), settings.rules.severity.get(target.pattern), words_in(language))
    typer.echo(shown, color=use_colour(sys.stdout))
    return exits.DONE


@app.command("test", short_help="Test rules on annotated examples.", examples=TEST_EXAMPLES)
def try_rules_on_examples(
    path: Annotated[
        str | None,
        typer.Argument(metavar="PATH", help="A directory of rules and examples, a rule file, or an example."),
    ] = None,
) -> int:
    """Test rules on examples annotated with "ruleid: ID" and "ok: ID"; exit 1 if one fails.

    Without PATH, test every rule on its own bad and good example.
    """
    from jarvis_workers.sec.commands.rule_selection import book_for  # noqa: PLC0415
    from jarvis_workers.sec.rulesets.rule_tests import rules_in, try_files, try_rules  # noqa: PLC0415
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    settings = load_settings(directory=Path.cwd())
    if path is None:
        result = try_rules(book_for(settings))
    else:
        result = try_files(book_for(settings, rules_in(Path(path))), Path(path))
    for line in (*result.notes, *result.failures):
        typer.echo(plain(line))
    typer.echo(_verdict(result.summary, len(result.failures)))
    return exits.FINDINGS if result.failures else exits.DONE


def _verdict(text: str, failures: int) -> str:
    return f"{text}: " + (f"{failures:,} failed" if failures else "all passed")
