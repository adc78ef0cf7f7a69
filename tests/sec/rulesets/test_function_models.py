"""A project tells the data flow what its functions do, in its rule files."""

from pathlib import Path

import pytest

from jarvis_workers.dataflow import analyze, summarize
from jarvis_workers.dataflow.calls.function_models import NO_MODELS, FunctionModels, function_models
from jarvis_workers.errors import UsageError
from jarvis_workers.sec.rules.families.flow import HARMLESS
from jarvis_workers.sec.rulesets.rule_files import read_rules
from jarvis_workers.sec.rulesets.rulebook import open_rulebook
from tests.sec.following import look_nowhere

MODELS = """
rules:
  - id: pool_functions
    mode: model
    allocates: [pool_get]
    releases: [pool_put]
    takes: [list_adopt]
    never_returns: [give_up]
    may_return_null: [pool_get, table_find]
"""
HEAD = "struct item { int n; };\nint f(struct pool *p, struct table *t)\n{\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "models.yaml").write_text(MODELS)
    return tmp_path / "models.yaml"


def found(body: str, models: FunctionModels) -> list[tuple[str, int]]:
    content = f"{HEAD}{body}\n}}\n".encode()
    names = frozenset(name.encode() for name in models.names)
    model = summarize(content, language="c/cpp", header=False, test=False, path="a.c", names=names)
    hits = analyze(model, look_nowhere, test=False, models=models).hits if model is not None else ()
    return [(hit.pattern, hit.line - HEAD.count("\n")) for hit in hits if hit.pattern not in HARMLESS]


LEAK = "struct item *i = pool_get(p);\nif (!i)\n    return -1;\nreturn i->n;"


@pytest.mark.parametrize(
    ("body", "findings"),
    [
        (LEAK, [("flow_memory_leak", 1)]),
        ("struct item *i = pool_get(p);\nreturn i->n;", [("flow_memory_leak", 1), ("flow_unchecked_null", 2)]),
        ("struct item *i = table_find(t);\nreturn i->n;", [("flow_unchecked_null", 2)]),
        (
            "struct item *i = pool_get(p);\nif (!i)\n    return 0;\npool_put(i);\npool_put(i);\nreturn 0;",
            [("flow_double_free", 5)],
        ),
        (
            "struct item *i = pool_get(p);\nif (!i)\n    return 0;\npool_put(i);\nreturn i->n;",
            [("flow_use_after_free", 5)],
        ),
        ("struct item *i = pool_get(p);\nif (!i)\n    return 0;\npool_put(i);\nreturn 0;", []),
        ("struct item *i = pool_get(p);\nif (!i)\n    return 0;\nlist_adopt(t, i);\nreturn 0;", []),
        ("struct item *i = table_find(t);\nif (!i)\n    give_up();\nreturn i->n;", []),
    ],
)
def test_a_model_decides_what_a_call_does(file: Path, body: str, findings: list[tuple[str, int]]) -> None:
    assert found(body, function_models(read_rules([file]))) == findings
    assert found(body, NO_MODELS) in ([], [("flow_null_dereference", 4)])


def test_a_model_is_listed_with_the_rules_and_reports_nothing(file: Path) -> None:
    (row,) = open_rulebook([file]).project
    (rule,) = [rule for rule in open_rulebook([file]).rules if rule.pattern == "pool_functions"]

    assert row["releases"] == ["pool_put"]
    assert (rule.check, rule.category) == (None, "models")


@pytest.mark.parametrize("text", ["", "    allocates: []\n", "    frees: [x]\n", "    releases: [a b]\n"])
def test_a_model_without_names_or_with_an_unknown_key_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.yaml").write_text(f"rules:\n  - id: mine\n    mode: model\n{text}")

    with pytest.raises(UsageError, match=r'bad\.yaml:\d+: rule "mine"'):
        read_rules([tmp_path / "bad.yaml"])
