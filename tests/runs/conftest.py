"""Fixtures shared with the tests of the store."""

from tests.store.conftest import pair, walk

__all__ = ["pair", "walk"]
