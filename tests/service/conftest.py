"""What these tests share with those of the store."""

from tests.store.conftest import pair, walk

__all__ = ["pair", "walk"]
