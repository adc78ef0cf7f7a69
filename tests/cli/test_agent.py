"""`jarvis agent`: one task for one agent, its answer, its transcript, and what goes wrong."""

import json
import os
import re
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from tests.agents.loop.counting import counted
from tests.agents.loop.server import FAULTS, ModelServer, Step, calls, repeats_headers, says
from tests.chaos.conversations import rounds as said_before
from tests.cli.commands import Jarvis
from tests.support.settings_files import write_settings

CODE = "int f(char *p) { return *p; }\n"
LOOKS = calls("read_code", path="a.c")
ENDS = says("f dereferences p, a.c:1.")


def model(jarvis: Jarvis, server: ModelServer, key: dict[str, str] | None = None, **agent: object) -> None:
    """Make the server the only model there is; `agent` are settings, `key` says where the key is."""
    group = {"model": "m", "base_url": server.url, "profile": "openai", **(key or {"api_key": "k"})}
    write_settings(jarvis.place, {"models": {"local": group}, "agent": agent})


@pytest.fixture
def tree(jarvis: Jarvis) -> Path:
    return jarvis.tree("src", {"a.c": CODE, "notes.txt": "It is said that p is never null.\n"})


def ask(jarvis: Jarvis, *more: object) -> tuple[int, str, str]:
    ended = jarvis("agent", "-T", "What does f do?", "-p", "src", *more)
    return ended.code, ended.out, ended.err


@pytest.mark.slow
def test_an_agent_looks_at_the_code_and_answers(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(LOOKS.expecting(lambda body: "What does f do?" in str(body)), ENDS) as server:
        model(jarvis, server)
        code, out, err = ask(jarvis, "--label", "team=net")

    assert (code, out) == (0, "f dereferences p, a.c:1.\n")
    assert json.loads(jarvis("runs", "list", "--label", "team=net", "--json").out)[0]["labels"] == {"team": "net"}
    assert "done; 2 answers, 240 tokens" in err
    seen = server.requests[1]["messages"][-1]["content"]
    assert "int f(char *p)" in seen
    assert server.headers[0]["authorization"] == "Bearer k"


@pytest.mark.slow
def test_files_of_every_kind_are_there_to_be_read(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(calls("read_code", path="notes.txt"), ENDS) as server:
        model(jarvis, server)
        ask(jarvis, "-q")

    assert "never null" in server.requests[1]["messages"][-1]["content"]


@pytest.mark.slow
def test_the_same_task_a_second_time_asks_the_model_nothing(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(LOOKS, ENDS) as server:
        model(jarvis, server)
        first = ask(jarvis, "--format", "json")
        second = ask(jarvis, "--format", "json")

    answers = [json.loads(out)["answer"] for _, out, _ in (first, second)]
    runs = [json.loads(out)["run"]["model"] for _, out, _ in (first, second)]
    assert {**answers[0], "run": None} == {**answers[1], "run": None}
    assert [run["remembered"] for run in runs] == [0, 2]


@pytest.mark.slow
@pytest.mark.parametrize(("profile", "dialect"), [("anthropic", "messages"), ("openai-responses", "responses")])
def test_an_agent_speaks_other_apis_and_keeps_their_secrets(
    jarvis: Jarvis, tree: Path, profile: str, dialect: str
) -> None:
    key = "sk-of-this-provider-0123456789"
    settings = {"api_key": key, "profile": profile, "reasoning_effort": "high", "extra_body": {"service_tier": "flex"}}
    prices = {"prices": {"input": 1, "cached": 0.1, "output": 5}}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 60}}
    steps = (repeats_headers(503), *(replace(step, usage=usage) for step in (LOOKS, ENDS)))
    with ModelServer(*steps, dialect=dialect) as server:
        model(jarvis, server, {**settings, **prices})
        code, out, err = ask(jarvis, "--label", f"api={profile}")
        again = ask(jarvis)

    assert (code, out) == (0, "f dereferences p, a.c:1.\n")
    assert again[:2] == (code, out) and len(server.requests) == 3
    assert {request["service_tier"] for request in server.requests} == {"flex"}
    assert f"{2 * (40 * 1 + 60 * 0.1 + 20 * 5) / 1e6:.4f} dollars" in err
    shown = [jarvis(*command).out for command in (("runs", "transcript", "last", "--json"), ("config", "show"))]
    assert key not in err + "".join(shown)


def test_a_named_task_is_given_once(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(LOOKS, ENDS) as server:
        model(jarvis, server)
        first, second = (ask(jarvis, "--name", "ticket-7") for _ in range(2))
        other = jarvis("agent", "-T", "Something else", "-p", "src", "--name", "ticket-7")

    assert first[:2] == second[:2] == (0, "f dereferences p, a.c:1.\n")
    assert "which has ended" in second[2]
    assert (other.code, other.out) == (2, "")
    assert "which has another source or other options" in other.line
    assert len(json.loads(jarvis("runs", "list", "--json").out)) == 1


@pytest.mark.slow
def test_a_changed_file_is_another_task(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(ENDS, ENDS) as server:
        model(jarvis, server)
        ask(jarvis)
        (tree / "a.c").write_text(CODE * 2)
        assert ask(jarvis)[0] == 0


def test_what_was_said_can_be_read(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(calls("execute_script", script_content="printf '\\033[31mred'; ls"), ENDS) as server:
        model(jarvis, server)
        ask(jarvis)
    ended = jarvis("runs", "transcript", "last")
    records = json.loads(jarvis("runs", "transcript", "last", "--json").out)
    shown = jarvis("runs", "show", "last").out
    full = jarvis("runs", "transcript", "last", "--full")

    assert [line for line in ended.out.splitlines() if line.startswith("── ")] == [
        ended.out.splitlines()[0],
        f"── result of list_memory_tags (state done, seconds {records[1]['outcome']['seconds']})",
        "── model (model scripted, tokens 100+20, seconds "
        + str(records[2]["reply"]["seconds"])
        + ", finish tool_calls)",
        "── calls execute_script",
        f"── result of execute_script (state done, seconds {records[3]['outcome']['seconds']})",
        "── model (model scripted, tokens 100+20, seconds " + str(records[4]["reply"]["seconds"]) + ")",
    ]
    assert "\\x1b[31mred" in ended.out
    assert "── question" not in ended.out
    assert "── question\nLines that begin with" in full.out and "What does f do?" in full.out
    assert [record["kind"] for record in records] == ["start", "result", "answer", "result", "answer"]
    assert "1/1 jobs" in shown
    assert "done: What does f do?" in shown
    assert "local: 2 answers, 240 tokens, cost unknown: no prices" in shown
    assert jarvis("runs", "report", "last").out == ENDS.content + "\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("steps", "says_why"),
    [
        ([FAULTS["401"]], "stopped (refused)"),
        ([FAULTS["truncation"]] * 3, "stopped (malformed)"),
        ([LOOKS] * 3, "stopped (repeated)"),
    ],
)
def test_an_agent_that_comes_to_no_answer_says_why(
    jarvis: Jarvis, tree: Path, steps: list[Step], says_why: str
) -> None:
    with ModelServer(*steps) as server:
        model(jarvis, server)
        code, out, err = ask(jarvis)

    assert (code, out) == (3, "")
    assert "incomplete" in err
    assert says_why in err
    assert jarvis("runs", "report", "last").code == 3


@pytest.mark.slow
def test_answers_are_recorded_and_played_again_without_a_model(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(LOOKS, ENDS) as server:
        model(jarvis, server)
        recorded = ask(jarvis, "--record", "talks")
    played = ask(jarvis, "--replay", "talks")
    other = jarvis("agent", "-T", "Something else.", "-p", "src", "--replay", "talks")

    assert len(list((jarvis.place / "talks").iterdir())) == 2
    assert recorded[:2] == played[:2] == (0, "f dereferences p, a.c:1.\n")
    assert other.code == 3
    assert "no recorded answer" in other.err


def test_the_settings_say_how_far_an_agent_may_go(jarvis: Jarvis) -> None:
    jarvis.tree("src", {"a.c": CODE * 300})
    with ModelServer(says("1"), LOOKS, calls("read_code", path="b.c")) as server:
        model(jarvis, server, rounds=3, filter_above=2, output_tokens=500)
        code, _, err = ask(jarvis)

    _, offered, cut = server.requests
    assert [tool["function"]["name"] for tool in offered["tools"]] == ["read_code"]
    assert "omitted" in cut["messages"][-1]["content"]
    assert (code, "stopped (rounds)" in err) == (3, True)


def test_callbacks_of_the_settings_are_called_after_each_tool(jarvis: Jarvis, tree: Path) -> None:
    note, directory = jarvis.place / "note", jarvis.place / "callbacks"
    directory.mkdir()
    writes = f"open({str(note)!r}, 'a').write(agent.name + ' ')"
    (directory / "mine.py").write_text(f"def after_tool_call_cb(agent):\n    {writes}\n")
    with ModelServer(LOOKS, calls("search_code", pattern="f"), ENDS) as server:
        model(jarvis, server, after_tool_call_cb_dirs=[str(directory)])
        ask(jarvis)

    assert note.read_text() == "Jarvis Jarvis "


@pytest.mark.slow
@pytest.mark.timing
def test_a_task_is_read_from_standard_input(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(ENDS.expecting(lambda body: "from a pipe" in str(body))) as server:
        model(jarvis, server)
        ended = jarvis.spawn("agent", "-T", "-", "-p", "src", input="from a pipe\n")

    assert (ended.code, ended.out) == (0, "f dereferences p, a.c:1.\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("-T x", "no model is set: run jarvis config init, or set OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL"),
        ("-T x -g fast", 'there is no group "fast"'),
        ("-g fast", "no task: give one with -T, or run this at a terminal for a conversation"),
        ("-n -c explain", "no task: non-interactive mode needs one; give it with -T"),
        ("-i -n", "--interactive cannot be combined with non-interactive mode"),
        ("-T x -c explane", "-c explane: no such file; built-in definitions: explain, triage, c-expert, writer"),
        ("-T x -c review", "-c review: defines a team; run it with: jarvis team -c review"),
        ("-T x -c explain --budget 1usd", "--budget is for a task that runs as a job"),
        ("--routine nightly", "--routine needs a task; give it with -T"),
        ("-i -p https://example.com/x.git", "a conversation works on a local directory; clone it first"),
        ("-i -p nowhere", "nowhere: not a directory"),
        ("-T ", "-T is empty"),
        ("-T x -c .", "-c .: cannot be read: Is a directory"),
        ("-T x --format sarif", '"sarif" is not a format for answers; use one of text, markdown, json'),
        ("-T x --record a --replay b", "--record and --replay cannot be combined"),
        ("-T x --detach", "--detach needs a cluster"),
        ("-T x --where cluster --record a", "--record and --replay are for local runs"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(jarvis: Jarvis, arguments: str, says: str) -> None:
    ended = jarvis("agent", *arguments.split(" "))

    assert ended.code == 2
    assert says in ended.line


def test_several_groups_want_a_choice(jarvis: Jarvis) -> None:
    groups = {name: {"model": name, "base_url": "http://127.0.0.1:1/v1"} for name in ("a", "b")}
    write_settings(jarvis.place, {"models": groups})

    assert "several model groups are set: choose one with -g" in jarvis("agent", "-T", "x").line


@pytest.mark.slow
def test_a_run_of_an_agent_has_an_answer_and_no_findings(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(ENDS) as server:
        model(jarvis, server)
        ask(jarvis)

    assert "print its answer with: jarvis runs report" in jarvis("runs", "export", "last").line
    assert (
        '"html" is not a format for answers; use one of text, markdown, json'
        in jarvis("runs", "report", "last", "--format", "html").line
    )
    assert jarvis("runs", "wait", "last").code == 0
    assert "no conversations; it is a sec.fast run" in transcript_of_a_scan(jarvis, tree)


def transcript_of_a_scan(jarvis: Jarvis, tree: Path) -> str:
    jarvis("sec", "fast", "-p", tree, "-q")
    return jarvis("runs", "transcript", "last").line


@pytest.mark.parametrize(("task", "says"), [("\udcff", "is not UTF-8 text"), ("a\0b", "contains a NUL")])
def test_a_task_that_is_no_text_is_refused(jarvis: Jarvis, task: str, says: str) -> None:
    ended = jarvis("agent", "-T", task)

    assert (ended.code, ended.line) == (2, f"jarvis: -T {says}" + (" character" if "\0" in task else ""))


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--record src/a.c", "--record src/a.c: cannot be created: File exists"),
        ("--replay nowhere", "--replay nowhere: no such directory"),
    ],
)
def test_a_folder_that_cannot_be_used_costs_no_answer(jarvis: Jarvis, tree: Path, option: str, says: str) -> None:
    with ModelServer() as server:
        model(jarvis, server)
        ended = jarvis("agent", "-T", "x", "-p", "src", *option.split())

    assert (ended.code, ended.line) == (2, f"jarvis: {says}")


@pytest.mark.slow
def test_a_conversation_that_cannot_begin_is_told_with_one_reason_and_can_be_tried_again(
    jarvis: Jarvis, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(ENDS) as server:
        model(jarvis, server, {"api_key_env": "THE_KEY"})
        code, out, err = ask(jarvis, "--format", "json")
        monkeypatch.setenv("THE_KEY", "k")
        again = jarvis("runs", "retry", "last")

    reason = "the converse stage failed: SettingsError: models: 'm' takes its key from THE_KEY, which is not set"
    assert (code, json.loads(out)["answer"], json.loads(out)["run"]["reason"]) == (3, None, reason)
    assert err.count(reason) == 1
    assert "try again with: jarvis runs retry" in err
    assert (again.code, json.loads(again.out)["answer"]["text"]) == (0, "f dereferences p, a.c:1.")


@pytest.mark.slow
def test_a_key_is_in_no_file_and_nothing_that_is_shown(
    jarvis: Jarvis, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-not-to-be-seen"
    with ModelServer(says("Bad."), FAULTS["401"]) as server:
        for name, value in {"API_KEY": secret, "BASE_URL": server.url, "MODEL": "m"}.items():
            monkeypatch.setenv(f"OPENAI_{name}", value)
        said = [ask(jarvis), ask(jarvis, "--format", "json", "-g", "environment")]
        said += [jarvis("agent", "-T", "Another.", "-p", "src")]
    for command in ("runs show last", "runs show last --json", "runs transcript last --json", "config show", "doctor"):
        said.append(jarvis(*command.split()))
    kept = [path for path in jarvis.place.parent.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]

    assert f"Bearer {secret}" in {headers["authorization"] for headers in server.headers}
    assert secret not in str(said)
    assert kept == []


def priced(jarvis: Jarvis, server: ModelServer, **group: object) -> None:
    """Make the server the only model; what it takes costs something."""
    prices = {"prices": {"input": 1000, "output": 1000}, "overrides": {"answer_tokens": 20}}
    named = {"model": "m", "base_url": server.url, "profile": "openai", "api_key": "k", **prices, **group}
    write_settings(jarvis.place, {"models": {"local": named}, "agent": {"memory": False}})


@pytest.mark.slow
def test_a_budget_that_is_too_small_for_one_answer_says_so_and_a_resumed_run_writes_where_it_was_told(
    jarvis: Jarvis, tree: Path
) -> None:
    with ModelServer(ENDS) as server:
        priced(jarvis, server)
        code, _, err = ask(jarvis, "--budget", "0.001usd", "-o", "answer.md")
        again = jarvis("runs", "resume", "last", "--budget", "9usd")

    assert code == 3
    assert re.search(r"paused \(budget: one answer may cost up to \d\.\d{4} dollars\)", err)
    assert "jarvis runs resume" in err and "--budget AMOUNT" in err
    assert (again.code, again.out) == (0, "")
    assert (jarvis.place / "answer.md").read_text() == ENDS.content + "\n"


@pytest.mark.slow
def test_a_run_pauses_before_it_takes_more_than_its_budget_and_goes_on_with_more(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(forever=lambda body: counted(LOOKS if said_before(body) == 0 else ENDS, body)) as server:
        priced(jarvis, server)
        code, out, err = ask(jarvis, "--budget", "1.5usd")
        run = json.loads(jarvis("runs", "show", "last", "--json").out)
        shown = jarvis("runs", "show", "last").out
        refused = jarvis("runs", "resume", "last")
        too_little = jarvis("runs", "resume", "last", "--budget", "0.1usd")
        assert len(server.requests) == 1
        again = jarvis("runs", "resume", "last", "--budget", "9usd", "--format", "json")

    tokens = run["model"]["prompt"] + run["model"]["completion"]
    spent = f"{tokens / 1000:.4f}"
    assert (code, out, run["state"], run["reason"]) == (3, "", "paused", "budget")
    assert f"paused (budget); 1 answer, {tokens:,} tokens, {spent} dollars; continue with: jarvis runs resume" in err
    assert run["budget"] == {"unit": "usd", "cap": 1.5, "spent": tokens / 1000, "says": f"{spent} of 1.5 dollars"}
    assert f"budget        {spent} of 1.5 dollars\n" in shown
    assert f"continue with: jarvis runs resume {run['id']} --budget AMOUNT\n" in shown
    assert f"run {run['id']} has spent {spent} of 1.5 dollars; raise the budget:" in refused.line
    assert (refused.code, too_little.code) == (2, 2)
    assert f"has spent {spent} of 0.1 dollars; raise the budget" in too_little.line
    answer = json.loads(again.out)
    assert (again.code, answer["answer"]["text"], answer["run"]["budget"]["cap"]) == (0, ENDS.content, 9)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("asked", "says_why"),
    [
        ("5eur", "command line: \"agent.budget\" is '5eur', should be an amount and a unit (usd, tok, ktok"),
        (
            "5usd",
            '--budget: the model group "local" has no prices, so its cost in dollars cannot be computed; set them in',
        ),
    ],
)
def test_a_budget_that_cannot_be_kept_is_refused_before_anything_is_done(
    jarvis: Jarvis, tree: Path, asked: str, says_why: str
) -> None:
    with ModelServer() as server:
        model(jarvis, server)
        code, _, err = ask(jarvis, "--budget", asked)

    assert (code, err.count("\n")) == (2, 1)
    assert says_why in err
    assert jarvis("runs", "resume", "last", "--budget", asked).code == 2


def test_a_task_with_a_definition_runs_in_this_process_and_asks_nobody(jarvis: Jarvis, tree: Path) -> None:
    asks = calls("execute_script", script_content="ls")
    with ModelServer(LOOKS, asks, says("f dereferences p.\n!!!COMPLETE!!!")) as server:
        model(jarvis, server)
        ended = jarvis("agent", "-T", "What does f do?", "-p", "src", "-c", "explain")

    assert (ended.code, ended.out) == (0, "f dereferences p.\n")
    assert "Explain: model m, tools 2/" in ended.err and "* read_code path=a.c\n" in ended.err
    assert "there is no tool 'execute_script'" in server.requests[2]["messages"][-1]["content"]
    assert "!!!COMPLETE!!!" in server.requests[0]["messages"][-1]["content"]
    assert json.loads(jarvis("runs", "list", "--json").out) == []


def test_a_task_in_this_process_without_an_answer_exits_3(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(FAULTS["401"]) as server:
        model(jarvis, server)
        ended = jarvis("agent", "-T", "x", "-p", "src", "--routine", "nightly")

    assert (ended.code, ended.out, "stopped (refused)" in ended.err) == (3, "", True)
    assert "# Routine nightly" in server.requests[0]["messages"][0]["content"]


def test_a_definition_of_a_code_agent_is_for_another_command(jarvis: Jarvis, tree: Path) -> None:
    (jarvis.place / "coder.yaml").write_text("agent_type: code\n")

    ended = jarvis("agent", "-T", "Do it.", "-c", "coder.yaml")

    assert (ended.code, "jarvis code -r TASK" in ended.line) == (2, True)


def test_a_definition_from_a_pipe_is_refused(jarvis: Jarvis, tree: Path) -> None:
    reads, writes = os.pipe()
    os.write(writes, b"use_tools: [read_code]\n")
    os.close(writes)
    with ModelServer() as server:
        model(jarvis, server)
        ended = jarvis("agent", "-T", "Do it.", "-c", f"/dev/fd/{reads}")
    os.close(reads)

    assert (ended.code, ended.line) == (2, f"jarvis: -c /dev/fd/{reads} is not a regular file")


def test_a_directory_named_like_an_address_is_conversed_about(jarvis: Jarvis, tree: Path) -> None:
    (jarvis.place / "https:" / "example.com" / "x.git").mkdir(parents=True)
    with ModelServer(ENDS) as server:
        model(jarvis, server)
        ended = jarvis("agent", "-T", "Do it.", "-c", "explain", "-p", "https://example.com/x.git")

    assert ended.code == 0


def test_piped_lines_converse(jarvis: Jarvis, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("What is\nthere?\n\n/cost\n/quit\n"))
    with ModelServer(says("A file.")) as server:
        model(jarvis, server)
        ended = jarvis("agent", "-i", "-p", "src")

    assert (ended.code, "A file.\n[120 tokens" in ended.out) == (0, True)
    assert "What is\nthere?" in server.requests[0]["messages"][-1]["content"]


def test_built_in_definitions_of_three_kinds_are_listed(jarvis: Jarvis) -> None:
    lines = jarvis("agent", "--definitions").out.splitlines()

    assert {line.split()[0] for line in lines} == {"agent", "roles", "multi_agent"}
    assert "roles        writer       Writes and corrects technical documentation." in lines


@pytest.mark.parametrize(
    ("variable", "value", "says_why"),
    [
        ("JARVIS_NON_INTERACTIVE", "true", "non-interactive mode needs one"),
        ("JARVIS_TOOL_GROUP", "fast", 'there is no tool group "fast"'),
        ("JARVIS_TOOL_REMINDER_ROUNDS", "0", "JARVIS_TOOL_REMINDER_ROUNDS: is '0'"),
    ],
)
def test_the_environment_decides_on_conversations(
    jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, says_why: str
) -> None:
    monkeypatch.setenv(variable, value)
    with ModelServer() as server:
        model(jarvis, server)
        ended = jarvis("agent", *[] if variable == "JARVIS_NON_INTERACTIVE" else ["-i"])

    assert (ended.code, says_why in ended.line) == (2, True)
