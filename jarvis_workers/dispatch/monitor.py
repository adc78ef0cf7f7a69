"""The Flower dashboard of the broker: a live view of the workers, without a history.

Flower runs in this process, so that the broker's address is not on a command line.  Flower is configured by FLOWER_*
variables: FLOWER_BASIC_AUTH sets a password, FLOWER_UNAUTHENTICATED_API opens its API.
"""

from jarvis_workers.dispatch.broker import make_app
from jarvis_workers.extras import require

TASK_COLUMNS = "name,state,args,kwargs,received,started,runtime,worker"


def serve(broker_url: str, address: str, port: int) -> None:
    """Serve the Flower dashboard until interrupted."""
    require("flower", "this page")
    app = make_app(broker_url)
    app.start(["flower", f"--address={address}", f"--port={port}", f"--tasks_columns={TASK_COLUMNS}"])
