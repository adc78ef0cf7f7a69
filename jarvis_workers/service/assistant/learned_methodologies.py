"""Save the methodologies that an agent has learned as a job, in the data directory of the user."""

from collections.abc import Callable

from jarvis_workers.assistant.methodology import Methodology
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.service.assistant.methodology_files import open_methodologies
from jarvis_workers.service.conversations import read_answer
from jarvis_workers.service.handles import Blobs, Store
from jarvis_workers.service.rules.yamlfiles import shown_path
from jarvis_workers.settings import Settings
from jarvis_workers.store.values import Run


def keep_methodologies(settings: Settings, store: Store, blobs: Blobs, run: Run, tell: Callable[[str], None]) -> None:
    """Save the methodologies that the agent of a run has learned; a failure is told in one line."""
    answer = read_answer(store, blobs, run)
    book = open_methodologies(None, settings.data_dir)
    for one in answer.get("methodologies", ()) if answer else ():
        methodology = Methodology.model_validate(one)
        if methodology in book.read():
            continue
        try:
            book.add(methodology)
        except UsageError as error:
            tell(str(error))
            return
        tell(f'saved a methodology for "{plain(methodology.problem_type)}" in {shown_path(book.own)}')
