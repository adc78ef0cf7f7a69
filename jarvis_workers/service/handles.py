"""Types that commands pass from one function of the service to another."""

from jarvis_workers.snapshots.blobs import Blobs as Blobs
from jarvis_workers.snapshots.unchanged_since import Unchanged as Unchanged
from jarvis_workers.store.engine import Store as Store
from jarvis_workers.toolchain.gittree import TreeBounds as TreeBounds
