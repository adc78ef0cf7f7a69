"""The Flower dashboard of the broker: a live view of the workers, without a history.

Flower runs in this process, so that the broker's address is not on a command line.  Flower is configured by FLOWER_*
variables; FLOWER_UNAUTHENTICATED_API opens its API.
"""

from jarvis_workers.dispatch.broker import make_app
from jarvis_workers.extras import require

TASK_COLUMNS = "name,state,args,kwargs,received,started,runtime,worker"


def serve(broker_url: str, address: str, port: int, users: str | None = None) -> None:
    """Serve the Flower dashboard until interrupted; `users` are user:password pairs, comma-separated."""
    require("flower", "this page")
    app = make_app(broker_url)
    auth = [f"--basic_auth={users}"] if users else []
    app.start(["flower", f"--address={address}", f"--port={port}", f"--tasks_columns={TASK_COLUMNS}", *auth])
