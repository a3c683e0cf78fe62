"""What the stub model answers in the pictures: mostly what a case expects, now and then the look-alike of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from zlib import crc32

from mcp_tef import ExpectedCall, TestCase
from tests.support.model_replies import Received, Reply, broken, junk, tool_calls, words

LOOK_ALIKES: Mapping[str, str] = {
    "find_parts": "search_catalogue",
    "search_catalogue": "find_parts",
    "check_stock": "find_parts",
    "update_booking": "reschedule_repair",
    "reschedule_repair": "update_booking",
    "cancel_repair": "update_booking",
    "quote_repair": "book_repair",
    "search_files": "search_code",
    "search_code": "search_files",
    "find_document": "search_files",
}
WRONG_OF_100, UNSURE_OF_100 = 22, 15
EXTRA_CALL, UNREADABLE = range(40, 46), range(46, 50)
OUT_OF_SERVICE = "-small"


class Answers:
    """Answers by the cases, the same at every start; a small model errs twice as often, and fails for one case."""

    def __init__(self, cases: Sequence[TestCase]) -> None:
        self._calls = {case.draft.query: case.draft.expectation.alternatives[0] for case in cases}
        self._asked = Counter[tuple[str, str]]()

    def __call__(self, request: Received) -> Reply:
        asked = request.query
        query = next((known for known in self._calls if known in asked), asked)
        self._asked[request.model, query] += 1
        luck = crc32(f"{request.model} {query} {self._asked[request.model, query]}".encode()) % 100
        small = request.model.endswith(OUT_OF_SERVICE)
        if small and luck == 0:
            return broken()
        calls = self._calls.get(query, ())
        if not calls:
            return words("Nothing here can do that, so no tool is called.\nConfidence: 0.8")
        if luck < WRONG_OF_100 * (2 if small else 1):
            wrong = LOOK_ALIKES.get(calls[0].tool, calls[0].tool)
            return _answer([ExpectedCall(tool=wrong, parameters=calls[0].parameters)], 0.5 + luck / 100)
        if luck in EXTRA_CALL:
            return _answer([*calls, ExpectedCall(tool=LOOK_ALIKES.get(calls[0].tool, calls[0].tool))], 0.7)
        if luck in UNREADABLE:
            return junk()
        return _answer(calls, 0.6 if luck > 100 - UNSURE_OF_100 else 0.75 + luck / 500)


def _answer(calls: Sequence[ExpectedCall], confidence: float) -> Reply:
    named = [(call.tool, {name: _value(value) for name, value in (call.parameters or {}).items()}) for call in calls]
    return tool_calls(*named, words=f"The description says that it does this.\nConfidence: {confidence:.2f}")


def _value(expected: object) -> object:
    """A value that an expected one takes: its own, or what stands in the matcher."""
    if isinstance(expected, Mapping) and expected:
        name, inside = next(iter(expected.items()))
        if name == "$regex":
            return str(inside).rpartition("|")[2]
        if name.startswith("$"):
            return _value(inside[0]) if isinstance(inside, list) and inside else inside
        return {name: _value(value) for name, value in expected.items()}
    return expected
