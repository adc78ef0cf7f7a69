"""A person's input: slash commands first, then shell commands, then text with the files that it names."""

import pytest

from jarvis_workers.assistant.input_handlers import (
    FILES_MAX,
    FileMention,
    PersonInput,
    PersonText,
    ShellCommand,
    SlashCommand,
    read_input,
)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("/help", SlashCommand("help", "")),
        (" /Task 2 ", SlashCommand("task", "2")),
        ("/help @a.c !ls", SlashCommand("help", "@a.c !ls")),
        ("/usr/bin/ls is what?", PersonText("/usr/bin/ls is what?")),
        ("!ls | wc", ShellCommand("ls | wc")),
        ("!", ShellCommand("")),
        ("what does f do?", PersonText("what does f do?")),
        ("see @src/a.c.", PersonText("see @src/a.c.", (FileMention("src/a.c"),))),
        (
            "@a.c:10 and @b.c:10-40",
            PersonText("@a.c:10 and @b.c:10-40", (FileMention("a.c", 10, 10), FileMention("b.c", 10, 40))),
        ),
        ("@a.c @a.c", PersonText("@a.c @a.c", (FileMention("a.c"),))),
        ("mail me@example.com", PersonText("mail me@example.com")),
        ("", PersonText("")),
    ],
)
def test_what_an_input_means(text: str, meaning: PersonInput) -> None:
    assert read_input(text) == meaning


def test_the_number_of_files_is_limited() -> None:
    chosen = read_input(" ".join(f"@{number}.c" for number in range(FILES_MAX + 3)))

    assert isinstance(chosen, PersonText)
    assert (len(chosen.mentions), chosen.left_out) == (FILES_MAX, 3)
