"""Save the methodologies that an agent has learned as a job, in the data directory of the user."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jarvis_workers.assistant.chat.methodology_files import open_methodologies
from jarvis_workers.assistant.methodology import Methodology
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.settings.yamlfiles import shown_path


def keep_methodologies(data: Path, answer: Mapping[str, Any] | None, tell: Callable[[str], None]) -> None:
    """Save the methodologies in the answer of a run that the directory lacks; a failure is told in one line."""
    learned = [Methodology.model_validate(one) for one in (answer or {}).get("methodologies", ())]
    if not learned:
        return
    book = open_methodologies(None, data)
    by_type = {one.problem_type: one for one in book.read()}
    for methodology in learned:
        if by_type.get(methodology.problem_type) == methodology:
            continue
        try:
            book.add(methodology)
        except UsageError as error:
            tell(str(error))
            return
        by_type[methodology.problem_type] = methodology
        tell(f'saved a methodology for "{plain(methodology.problem_type)}" in {shown_path(book.own)}')
