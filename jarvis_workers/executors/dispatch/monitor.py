"""The Flower dashboard of the broker: a live view of the workers, without a history.

Flower runs in this process, so that the broker's address is not on a command line.  Flower is configured by FLOWER_*
variables; FLOWER_UNAUTHENTICATED_API opens its API.
"""

from jarvis_workers.executors.dispatch.broker import make_app
from jarvis_workers.extras import require

# Measured with labels of 200 characters, while Flower saves its state: 273 MB for 20,000 tasks, 1,038 MB for the
# 100,000 that are Flower's default.
TASKS_MAX = 20_000
TASK_COLUMNS = "name,state,args,kwargs,received,started,runtime,worker"


def serve(broker_url: str, address: str, port: int, users: str | None = None, *, tasks_max: int = TASKS_MAX) -> None:
    """Serve the Flower dashboard until interrupted; `users` are user:password pairs, comma-separated.

    The newest `tasks_max` tasks are kept in memory.
    """
    require("flower", "this page")
    app = make_app(broker_url)
    auth = [f"--basic_auth={users}"] if users else []
    shown = [f"--tasks_columns={TASK_COLUMNS}", f"--max_tasks={tasks_max}"]
    app.start(["flower", f"--address={address}", f"--port={port}", *shown, *auth])
