"""`python -m jarvis_cli` is `jarvis`."""

from jarvis_cli.main import main

if __name__ == "__main__":
    main()
