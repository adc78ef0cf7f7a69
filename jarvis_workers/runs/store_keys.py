"""Keys that all processes of a store share, derived from its secret."""

import hmac

from jarvis_workers.store import transcripts
from jarvis_workers.store.engine import Store


def store_key(store: Store, purpose: bytes) -> bytes:
    """Return the key for a purpose; keys for different purposes do not reveal each other."""
    with store.write() as session:
        return hmac.digest(transcripts.secret(session), purpose, "sha256")
