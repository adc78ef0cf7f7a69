"""Read the XML of cppcheck (`--xml`), of version 2: an error with locations, the first of which is the place."""

from xml.parsers.expat import ExpatError, ParserCreate

from jarvis_workers.sec.alerts.alert import Alert, AlertReport, FlowStep, UnreadableReport, counted, shortened

# What cppcheck says of itself.
OF_TOOL = frozenset(
    ("missingInclude", "missingIncludeSystem", "checkersReport", "noValidConfiguration", "toomanyconfigs")
)


def read_cppcheck(content: bytes) -> AlertReport:
    """Return the errors of a report. Raises UnreadableReport; entities are refused."""
    reader = _ErrorReader()
    parser = ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.EntityDeclHandler = _refuse
    try:
        parser.Parse(content, True)
    except ExpatError as error:
        raise UnreadableReport(f"the XML is damaged: {error}") from None
    return AlertReport(counted(reader.alerts), reader.left_out)


def _refuse(*_: object) -> None:
    raise UnreadableReport("the XML declares entities, which no analyzer needs")


class _ErrorReader:
    def __init__(self) -> None:
        self.alerts: list[Alert] = []
        self.left_out: dict[str, int] = {}
        self._error: dict[str, str] | None = None
        self._places: list[FlowStep] = []
        self._column = 0
        self._is_begun = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._is_begun and (name != "results" or not attributes.get("version", "").startswith("2")):
            raise UnreadableReport("the XML is not that of cppcheck of version 2")
        self._is_begun = True
        if name == "error":
            self._error, self._places, self._column = attributes, [], 0
        elif name == "location" and self._error is not None:
            if not self._places:
                self._column = _number(attributes.get("column"))
            text = shortened(attributes.get("info"))
            self._places.append(FlowStep(attributes.get("file", ""), _number(attributes.get("line")), text))

    def end(self, name: str) -> None:
        if name != "error" or self._error is None:
            return
        error, self._error = self._error, None
        if error.get("id") in OF_TOOL:
            self.left_out["about the run of cppcheck"] = self.left_out.get("about the run of cppcheck", 0) + 1
            return
        place = self._places[0] if self._places else FlowStep("", 0, "")
        text = shortened(error.get("verbose") or error.get("msg"))
        self.alerts.append(
            Alert(
                "cppcheck",
                shortened(error.get("id")) or "unknown",
                text,
                place.file,
                place.line,
                self._column,
                _number(error.get("cwe")),
                shortened(error.get("severity")),
                title=shortened(error.get("msg")),
                # cppcheck gives the place first, then what has led there, the last first.
                steps=tuple(reversed(self._places)) if len(self._places) > 1 else (),
            )
        )


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else 0
