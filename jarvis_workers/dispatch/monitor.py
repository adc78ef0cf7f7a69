"""The Flower dashboard over our broker: a live view of the workers, never a record.

The broker's address reaches it in the process, not in arguments.  Flower reads its own
FLOWER_* variables: FLOWER_BASIC_AUTH for a password, FLOWER_UNAUTHENTICATED_API for its API.
"""

from jarvis_workers.dispatch.broker import make_app
from jarvis_workers.extras import require

TASK_COLUMNS = "name,state,args,kwargs,received,started,runtime,worker"


def serve(broker_url: str, address: str, port: int) -> None:
    """Serve Flower's pages until interrupted."""
    require("flower", "this page")
    app = make_app(broker_url)
    app.start(["flower", f"--address={address}", f"--port={port}", f"--tasks_columns={TASK_COLUMNS}"])
