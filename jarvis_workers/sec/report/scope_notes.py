"""What a report says of the scope of its run: rules that did not run, and settings that leave less to find."""

from collections.abc import Iterator, Mapping
from typing import Any

from jarvis_workers.depth import depth_note
from jarvis_workers.paths import listing, plain
from jarvis_workers.words import Words

NAMES_MAX = 20
NARROWED = "Settings narrow this scan: {names}."
ALTERED = "This change alters what is scanned: {names}."


def scope_notes(run: Mapping[str, Any], say: Words) -> Iterator[str]:
    """Yield a sentence for each limit of the scope, given the `run` part."""
    if note := depth_note(run):
        yield say(note)
    for field, text in (("altered", ALTERED), ("narrowed", NARROWED)):
        if names := run.get(field):
            yield say(text, names=listing([plain(name) for name in names], NAMES_MAX))
