"""Let `python -m jarvis_cli` run `jarvis`."""

from jarvis_cli.main import main

if __name__ == "__main__":
    main()
