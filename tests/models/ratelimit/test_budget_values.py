"""Budgets as users write them, and what an answer takes of each."""

import pytest

from jarvis_workers.models.ratelimit.budget import RunBudget, Unit, amount_of, read_budget


@pytest.mark.parametrize(
    ("text", "unit", "amount"),
    [
        ("5usd", "usd", 5),
        ("0.25 USD", "usd", 0.25),
        ("200ktok", "tok", 200_000),
        ("1.5mtok", "tok", 1_500_000),
        ("7tok", "tok", 7),
        (" 30min ", "s", 1800),
        ("90s", "s", 90),
        ("1.5h", "s", 5400),
    ],
)
def test_a_budget_is_an_amount_with_a_unit(text: str, unit: str, amount: float) -> None:
    budget = read_budget(text)
    assert (budget.unit, budget.amount) == (unit, amount)


@pytest.mark.parametrize("text", ["", "5", "usd", "5eur", "-5usd", "5e3usd", "1,5usd", "5usd 5usd", "٣usd", "$5"])
def test_what_is_no_budget_is_refused_with_what_it_should_be(text: str) -> None:
    with pytest.raises(ValueError, match="should be an amount and a unit"):
        read_budget(text)


@pytest.mark.parametrize("text", ["0usd", "0.0tok", "0.4tok", "999999999999usd"])
def test_nothing_and_more_than_there_is_are_no_budgets(text: str) -> None:
    with pytest.raises(ValueError, match="should be positive"):
        read_budget(text)


@pytest.mark.parametrize(
    ("budget", "spent", "said"),
    [
        (RunBudget("usd", 5_000_000_000), 4_981_200_000, "4.9812 of 5 dollars"),
        (RunBudget("usd", 1_000_000_000), 0, "0.0000 of 1 dollar"),
        (RunBudget("tok", 1), 0, "0 of 1 token"),
        (RunBudget("tok", 200_000), 1_234, "1,234 of 200,000 tokens"),
        (RunBudget("s", 1_800_000), 61_499, "61 of 1,800 seconds"),
    ],
)
def test_what_is_spent_is_said_in_its_unit(budget: RunBudget, spent: int, said: str) -> None:
    assert budget.says(spent) == said


@pytest.mark.parametrize(("unit", "parts"), [("usd", 1_500_000), ("tok", 120), ("s", 0)])
def test_an_answer_takes_money_and_tokens_and_time_passes_by_itself(unit: Unit, parts: int) -> None:
    assert amount_of(unit, 120, 0.0015) == parts
