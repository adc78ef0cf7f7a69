"""definition.yaml: each key with its type; everything else is refused in one line that names the place."""

import pytest

from jarvis_workers.assistant.definition_file import DefinitionFile, read_definition, read_tasks
from jarvis_workers.errors import UsageError

# The keys that the contract fixes.
KEYS = """system_prompt name description model_group summary_prompt auto_complete use_tools execute_tool_confirm
need_summary auto_summary_rounds tool_reminder_rounds max_token_count use_methodology use_analysis force_save_memory
disable_file_edit files non_interactive in_multi_agent plan plan_max_depth plan_depth agent_type"""


def test_every_key_is_there_and_no_other() -> None:
    assert set(DefinitionFile.model_fields) == set(KEYS.split())


def test_defaults_are_those_of_the_seeds() -> None:
    about = read_definition("", "d.yaml")

    assert (about.name, about.auto_summary_rounds, about.plan_max_depth, about.plan_depth) == ("Jarvis", 20, 2, 0)
    assert about.agent_type == "normal"


@pytest.mark.parametrize(
    ("text", "uses"), [("", True), ("files: [a.c]", False), ("files: [a.c]\nuse_methodology: true", True)]
)
def test_methodology_is_off_when_files_are_given(text: str, uses: bool) -> None:
    assert read_definition(text, "d.yaml").uses_methodology is uses


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("systm_prompt: x", 'd.yaml:1: unknown key "systm_prompt" (did you mean "system_prompt"?)'),
        ("qqq: 1", 'd.yaml:1: unknown key "qqq"; the keys are system_prompt, name'),
        ("plan: 'yes'", "d.yaml:1: \"plan\" is 'yes', should be true or false"),
        ("name: ''", "d.yaml:1: \"name\" is '', "),
        ("use_tools: read_code", "d.yaml:1: \"use_tools\" is 'read_code', should be a list"),
        ("plan_max_depth: 99", 'd.yaml:1: "plan_max_depth" is 99, should be at most 10'),
        ("agent_type: x", "d.yaml:1: \"agent_type\" is 'x', should be 'normal' or 'code'"),
        ("name: a\nname: b", 'd.yaml:2: "name" occurs twice'),
        ("- a", "d.yaml is ['a']; expected a mapping"),
        ("a: !!python/object:os.system {}", "d.yaml:1: could not determine a constructor"),
        ("a: [", "d.yaml:1: "),
        ("files: &a [a.c]\nuse_tools: *a", "d.yaml:2: YAML aliases are not allowed"),
        ("\x1b[31m: [", r"d.yaml: cannot be read as YAML: "),
    ],
)
def test_what_is_wrong_is_refused_in_one_line(text: str, says: str) -> None:
    with pytest.raises(UsageError) as error:
        read_definition(text, "d.yaml")

    assert str(error.value).startswith(says)
    assert "\n" not in str(error.value)


def test_tasks_are_names_with_texts() -> None:
    assert read_tasks("review: |\n  Review it.\nexplain: Explain it.", "t") == {
        "review": "Review it.",
        "explain": "Explain it.",
    }
    with pytest.raises(UsageError, match=r"t: 'a' should be the name of a task, with a text"):
        read_tasks("a: 1", "t")
