"""`jarvis c2rust`: read a C project, and move it to Rust.

Implementations are imported on demand: `--help` needs neither libclang nor the database libraries.
"""

from jarvis_cli.app import App
from jarvis_cli.c2rust_cc import PASSED_ON, cc
from jarvis_cli.c2rust_collect import EXAMPLES as COLLECT
from jarvis_cli.c2rust_collect import collect
from jarvis_cli.c2rust_files import GRAPH, ORDER, SYMBOLS, graph, order, symbols
from jarvis_cli.c2rust_options import EXAMPLES as SCAN
from jarvis_cli.c2rust_options import scan

app = App(no_args_is_help=True)

app.command("collect", short_help="Collect the functions that headers declare.", examples=COLLECT)(collect)
app.command("scan", short_help="Read symbols, call graph and translation order.", examples=SCAN)(scan)
app.command("symbols", short_help="List symbols, or show one with its users.", examples=SYMBOLS)(symbols)
app.command("graph", short_help="Write the call graph as DOT, picture or page.", examples=GRAPH)(graph)
app.command("order", short_help="Print the translation order.", examples=ORDER)(order)
app.command("cc", hidden=True, add_help_option=False, context_settings=PASSED_ON)(cc)
