"""A flow rule is one file: it is found by standing in its folder, and declares the id of its row."""

from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from jarvis_workers.dataflow import rules
from jarvis_workers.dataflow.events import Event
from jarvis_workers.dataflow.library.model import CALLS, on_call
from jarvis_workers.dataflow.state.path import FlowRule
from jarvis_workers.sec.rules.families.flow import RULES
from tests.sec.following import tell

FILES = sorted(file for file in Path(rules.__path__[0]).glob("*.py") if file.stem != "__init__")


def declared(file: Path) -> list[str]:
    """Return the ids of the rules that a file makes, not those that it imports from another one."""
    module = import_module(f"{rules.__name__}.{file.stem}")
    own = [one for one in vars(module).values() if isinstance(one, FlowRule)]
    return [one.id for one in own if f'"{one.id}"' in file.read_text()]


def test_every_flow_rule_is_declared_in_one_file() -> None:
    ids = Counter(pattern for file in FILES for pattern in declared(file))

    assert ids == Counter(rule.pattern for rule in RULES)


def test_the_first_line_of_a_rule_file_names_its_rules() -> None:
    for file in FILES:
        first, *_ = file.read_text().splitlines()

        assert first.startswith('"""flow_')
        assert all(pattern in first or pattern.rpartition("_")[2] in first for pattern in declared(file))


def test_the_engine_reports_nothing_itself() -> None:
    engine = Path(rules.__path__[0]).parent
    files = [file for file in engine.rglob("*.py") if file.parent.name != "rules"]

    assert [file.name for file in files if 'FlowRule("' in file.read_text()] == []


def test_a_listener_hears_its_event_in_the_order_of_registration() -> None:
    event: Event[[int]] = Event()
    calls = list[str]()
    event(lambda number: calls.append(f"first {number}"))
    event(lambda number: calls.append(f"second {number}"))

    event.happens(7)

    assert calls == ["first 7", "second 7"]


def test_a_listener_to_calls_hears_those_of_its_functions_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = list[int]()
    monkeypatch.setitem(CALLS, "reallocf", [])
    on_call("reallocf")(lambda call: lines.append(call.line))

    tell(b"void f(char *p, char *q)\n{\n    q = reallocf(p, 8);\n    q = realloc(q, 9);\n    free(q);\n}\n")

    assert lines == [3]
