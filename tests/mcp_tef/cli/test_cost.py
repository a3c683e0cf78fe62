"""What a command says of costs, and that a cap holds whatever is under way at once."""

import json
from pathlib import Path
from threading import Lock

import pytest

from tests.support.command_line import say
from tests.support.model_replies import Received, Reply, completion, tool_calls
from tests.support.model_stub import ModelStub
from tests.support.workspace_files import case, case_file, tools_file

CASES = 70
CAP = 0.05
PRICE_IN, PRICE_OUT = 10.0, 40.0


class Meter:
    """A model that uses its whole answer limit, and counts what it charges in US dollars."""

    def __init__(self) -> None:
        self.charged = 0.0
        self._lock = Lock()

    def __call__(self, request: Received) -> Reply:
        """Answer with as many tokens as are allowed."""
        sent, received = len(json.dumps(request.body)) // 4, int(request.body.get("max_tokens", 4_000))
        with self._lock:
            self.charged += (sent * PRICE_IN + received * PRICE_OUT) / 1e6
        reply = tool_calls(("weather_report", {"city": "Bonn"}))
        body = json.loads(reply.body) | {"usage": {"prompt_tokens": sent, "completion_tokens": received}}
        return Reply(body=json.dumps(body), delay=0.02)


@pytest.fixture
def city(tmp_path: Path) -> None:
    assert say("servers", "add", "city", "--tools-file", tools_file(tmp_path)).code == 0
    cases = [
        case(f"What is the weather like in city {number}?", [{"tool": "weather_report"}]) for number in range(CASES)
    ]
    assert say("cases", "import", case_file(tmp_path, cases)).code == 0


def model(url: str) -> tuple[str, ...]:
    return ("--model", "local/m", "--base-url", url, "--yes")


@pytest.mark.usefixtures("city")
def test_a_cap_holds_however_many_runs_are_under_way() -> None:
    for at_once in (1, 64):
        meter = Meter()
        with ModelStub(meter) as stub:
            capped = ("--price", f"{PRICE_IN:g},{PRICE_OUT:g}", "--max-cost", f"{CAP:g}", "--max-tokens", "200")
            said = say("run", *model(stub.url), *capped, "--concurrency", str(at_once), "--json")
        done = [run for run in said.document["runs"] if run["cost_usd"] is not None]
        print(f"{at_once:>2} at once: ${meter.charged:.4f} of ${CAP:g}, {len(done)} runs")
        assert said.code == 1
        assert said.document["stopped"] == "The cost cap of $0.05 would be passed."
        assert 1 <= len(done) < CASES
        assert CAP / 2 < meter.charged <= CAP
        assert sum(run["cost_usd"] for run in done) == pytest.approx(meter.charged)


@pytest.mark.usefixtures("city")
def test_a_cap_without_room_for_one_run_exits_before_the_first_call() -> None:
    with ModelStub() as stub:
        said = say("run", *model(stub.url), "--price", "10,40", "--max-cost", "0.001", "--json")
        assert (said.code, said.error["code"]) == (2, "cost_cap_too_low")
        assert stub.requests == []


@pytest.mark.usefixtures("city")
def test_cut_off_answers_and_unknown_prices_are_told(tmp_path: Path) -> None:
    limit = completion({"content": "Let me"}, finish="length")
    with ModelStub(lambda _: limit) as stub:
        said = say("run", *model(stub.url), "--max-tokens", "30", "--seed", "7", "--mode", "json")
        assert said.code == 1
        assert "The answer was cut off by the limit of 30 tokens, so it was not judged." in said.out
        assert f"{CASES} cut off by the limit of an answer" in said.out
        assert "cost                    unknown, since no price is known" in said.out
    run = say("runs", "list", "--limit", "1", "--status", "failed", "--json").document["runs"][0]
    used = say("runs", "show", run["id"], "--json").document["used"]
    assert used == {"mode": "json", "base_url": stub.url, "seed": 7, "answer_limit": 30}
