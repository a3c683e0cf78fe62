"""Golden verdicts of `score` over the cases of BFCL that the repository holds: their hash, and counts to read."""

import hashlib
import json
from collections import Counter
from pathlib import Path

from tests.support.bfcl_cases import SAMPLE, score_lines
from tests.support.command_line import say
from tests.support.golden import assert_golden

FIGURES = (
    *("classification", "kind", "parameters_ok", "completeness", "correctness", "type_conformance"),
    "confidence_category",
)


def test_verdicts(tmp_path: Path) -> None:
    cases = [json.loads(line) for line in SAMPLE.read_text("utf-8").splitlines()]
    source, verdicts = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("\n".join(score_lines(cases)), "utf-8")
    assert say("score", source, "--out", verdicts).code == 0
    judged = [json.loads(line) for line in verdicts.read_text("utf-8").splitlines()]
    found = {
        "lines": len(judged),
        "input_sha256": hashlib.sha256(source.read_bytes()).hexdigest(),
        "sha256": hashlib.sha256(verdicts.read_bytes()).hexdigest(),
        "reasons": Counter(
            finding["reason"] for one in judged for match in one["matches"] for finding in match["findings"]
        ),
        **{figure: Counter(str(one[figure]) for one in judged) for figure in FIGURES},
    }
    assert_golden("score_verdicts.json", json.dumps(found, indent=2, sort_keys=True) + "\n")
