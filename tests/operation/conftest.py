"""What tests of operation share: `jarvis`, in a directory of the test's own."""

from tests.cli.conftest import jarvis as jarvis
