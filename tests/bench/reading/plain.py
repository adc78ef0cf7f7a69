"""The plain conversation beside the product: numbered files in one request, and a list of bugs as the answer.

There are no tools, no hints and no second question. A tree that does not fit into one request is asked about in parts.
Tokens are those that the server reports, as in a run, or the product's own estimate where nobody reports them.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jarvis_workers.assistant.chat.asking import open_model
from jarvis_workers.models.platforms.protocol import Message, ModelRequest, Platform, Reply, estimate
from jarvis_workers.settings import load_settings
from tests.bench.reading.fetching import sources
from tests.bench.reading.recipes import Tree

PROMPT = Path(__file__).with_name("plain.md").read_text()
PART_TOKENS = 100_000
SECONDS = 3_600
LIST = re.compile(r"\[.*\]", re.DOTALL)


class PlainAnswer(NamedTuple):
    """The answer to a part; `cost` is in dollars, None if unknown."""

    text: str
    tokens: int
    cost: float | None


def requests(tree: Tree, directory: Path, part_tokens: int = PART_TOKENS) -> list[str]:
    """Return the requests for a tree: whole files, as many as fit into each."""
    parts, room = list[list[str]](), 0
    for path in sources(tree, directory):
        text = numbered(path, path.relative_to(directory).as_posix())
        if not parts or estimate(text) > room:
            parts, room = [*parts, [PROMPT]], part_tokens - estimate(PROMPT)
        parts[-1].append(text)
        room -= estimate(text)
    return ["\n".join(part) for part in parts]


def numbered(path: Path, name: str) -> str:
    """Return a file as `cat -n` shows it, below its name."""
    lines = path.read_text("utf-8", "replace").splitlines()
    return "\n".join([f"{name}:", *(f"{number:6}\t{line}" for number, line in enumerate(lines, 1)), ""])


def ask(group: str, texts: Sequence[str]) -> list[PlainAnswer]:
    """Ask a model group of the settings in the working directory, one request after the other."""
    with open_model(load_settings(directory=Path.cwd()), group) as model:
        replies = asyncio.run(_replies(model.platform, texts))
    return [PlainAnswer(reply.content, reply.usage.total, reply.cost) for reply in replies]


def written(texts: Sequence[str], output: Path, name: str) -> list[PlainAnswer]:
    """Write requests to files, and return the answers if a reader has put one beside each, else nothing."""
    answers = list[PlainAnswer]()
    for number, text in enumerate(texts, 1):
        (output / f"{name}-{number}.md").write_text(text)
        file = output / f"{name}-{number}.answer"
        if file.exists():
            answers.append(PlainAnswer(file.read_text(), estimate(text) + estimate(file.read_text()), None))
    return answers if len(answers) == len(texts) else []


def listed(answers: Sequence[PlainAnswer]) -> dict[str, Any]:
    """Return the list of a plain conversation, as `score` reads it. Raises ValueError."""
    costs = [one.cost for one in answers]
    return {
        "findings": [row for one in answers for row in _rows(one.text)],
        "tokens": sum(one.tokens for one in answers),
        "cost": None if None in costs else sum(filter(None, costs)),
    }


def _rows(text: str) -> Iterator[dict[str, Any]]:
    match = LIST.search(text)
    try:
        rows = json.loads(match[0] if match else text)
        yield from ({name: row[name] for name in ("file", "line", "class", "text")} for row in rows)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"the answer that begins {text[:60]!r} is no list of findings: {error!r}") from error


async def _replies(platform: Platform, texts: Sequence[str]) -> list[Reply]:
    replies = []
    for text in texts:
        reply = await platform.ask_async(ModelRequest((Message("user", text),), seconds=SECONDS))
        if not reply.is_whole:
            raise ValueError(f"the model ended its answer early: {reply.finish}")
        replies.append(reply)
    return replies
