"""Shell completion of rules, their categories and their languages. Slow modules are imported only on demand."""

from collections.abc import Iterator

from jarvis_cli.kit.completion import completed, without_descriptions


@completed
def languages() -> Iterator[tuple[str, str]]:
    return without_descriptions(("c/cpp", "rust"))


@completed
def rules() -> Iterator[tuple[str, str]]:
    from jarvis_workers.sec.rules import RULES  # noqa: PLC0415  (a tenth of a second)

    return ((rule.pattern, rule.title) for rule in RULES)


@completed
def categories() -> Iterator[tuple[str, str]]:
    from jarvis_workers.sec.rules import RULES  # noqa: PLC0415

    return without_descriptions(sorted({rule.category for rule in RULES}))
