"""How alike tools look, for other programs: the shape that scripts rely on, and pairs for spreadsheets."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mcp_tef.errors import InputError
from mcp_tef.formats.csv_tables import from_spreadsheet_cell
from mcp_tef.model.similarity import FlagRule
from mcp_tef.reports import similarity_tables
from mcp_tef.reports.analysis_reports import AnalysisReports
from mcp_tef.reports.similarity_html import SimilarityResults
from mcp_tef.reports.similarity_tables import matrix_file, matrix_text, similarity_csv, similarity_json
from tests.support import report_factories
from tests.support.report_factories import EVIL


def document(**options: Any) -> Any:
    return json.loads(
        similarity_json(report_factories.similarity(full=True), FlagRule(0.4), **{"full": True, **options})
    )


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_the_keys_are_those_that_scripts_rely_on_in_their_order() -> None:
    keys = [
        "embedder",
        "tools",
        "matrix",
        "full_matrix",
        "lexical_matrix",
        "threshold",
        "flagged_by",
        "flagged",
        "unreachable",
    ]
    assert list(document()) == keys
    assert list(document()["flagged"][0]) == ["a", "b", "score", "full_score", "percentile", "confusability", "level"]
    assert document()["tools"][0] == {"id": "shop/find_file", "server": "shop", "name": "find_file"}
    assert [list(one) for one in document()["unreachable"]] == [["server", "reason"]]


def test_scores_have_four_decimals() -> None:
    found = document()
    assert found["matrix"][0] == [1.0, 0.9124, 0.1, 0.2]
    assert found["matrix"][2][3] == 0.1234
    (flagged,) = found["flagged"]
    assert (flagged["a"], flagged["b"], flagged["score"]) == ("shop/find_file", "shop/look_up_file", 0.9124)
    assert flagged["percentile"] == round(5 / 6, 4)


def test_the_full_matrix_is_null_where_it_was_not_asked_for() -> None:
    assert document(full=False)["full_matrix"] is None
    without = json.loads(similarity_json(report_factories.similarity(), FlagRule(0.4), full=False))
    assert without["flagged"][0]["full_score"] is None


def test_a_row_of_a_matrix_is_a_line() -> None:
    lines = similarity_json(report_factories.similarity(), FlagRule(0.4), full=False).splitlines()
    assert "    [1.0000,0.9124,0.1000,0.2000]," in lines


@given(arrays.arrays(np.float32, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=st.floats(0, 1, width=32)))
def test_a_matrix_as_text_is_that_matrix_to_four_decimals(scores: Any) -> None:
    assert np.abs(np.array(json.loads(matrix_text(scores))) - scores).max() <= 0.00005001


def test_no_tool_at_all_is_a_document_too() -> None:
    assert json.loads(matrix_text(np.zeros((0, 0), dtype=np.float32))) == []


async def test_above_two_thousand_tools_the_matrices_go_beside(tmp_path: Path) -> None:
    found = report_factories.many(similarity_tables.MOST_IN_JSON + 1, full=True)
    await AnalysisReports().write_similarity(
        SimilarityResults(similarity=found, rule=FlagRule(0.4)), tmp_path / "out.json"
    )
    written = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert [written[name] for name in ("matrix", "full_matrix", "lexical_matrix")] == [None] * 3
    assert written["matrix_file"] == "out.npz"
    with np.load(tmp_path / "out.npz") as matrices:
        assert sorted(matrices) == ["full_matrix", "lexical_matrix", "matrix"]
        assert matrices["matrix"].shape == (2001, 2001)
        assert matrices["matrix"][3, 4] == pytest.approx(found.pair(3, 4).similarity, abs=0.00005001)


def test_matrices_never_go_where_the_document_goes(tmp_path: Path) -> None:
    found = report_factories.many(similarity_tables.MOST_IN_JSON + 1)
    assert matrix_file(found, tmp_path / "out.npz") == tmp_path / "out.matrices.npz"


async def test_two_thousand_tools_stay_in_the_document(tmp_path: Path) -> None:
    found = report_factories.many(similarity_tables.MOST_IN_JSON)
    await AnalysisReports().write_similarity(
        SimilarityResults(similarity=found, rule=FlagRule(0.4)), tmp_path / "out.json"
    )
    lines = (tmp_path / "out.json").read_text("utf-8").splitlines()
    assert not [line for line in lines if "matrix_file" in line]
    assert sum(line.startswith("    [1.0000,") for line in lines) == 2
    assert names(tmp_path) == ["out.json"]


async def test_a_file_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    results = SimilarityResults(similarity=report_factories.similarity(), rule=FlagRule(0.4))
    for name in ("out.json", "out.csv", "out.html"):
        with pytest.raises(InputError, match="could not be written"):
            await AnalysisReports().write_similarity(results, tmp_path / "nowhere" / name)


def test_pairs_for_spreadsheets_are_in_order_and_say_which_are_flagged() -> None:
    rows = list(csv.DictReader(io.StringIO(similarity_csv(report_factories.similarity(), FlagRule(0.4)))))
    assert len(rows) == 6
    assert [row["flagged"] for row in rows] == ["true"] + ["false"] * 5
    assert (rows[0]["tool_a"], rows[0]["similarity"], rows[0]["full"]) == ("shop/find_file", "0.9124", "")
    assert EVIL in [from_spreadsheet_cell(row["tool_b"]).removeprefix("evil/") for row in rows]


def test_a_name_that_a_spreadsheet_would_run_is_only_text() -> None:
    tools = report_factories.compared(*(report_factories.tool(name, server="=cmd()") for name in "ab"))
    found = report_factories.similarity(tools, [[1, 0.5], [0.5, 1]])
    assert next(csv.DictReader(io.StringIO(similarity_csv(found, FlagRule(0.4)))))["tool_a"] == "'=cmd()/a"


def test_every_flagged_pair_is_there_however_many() -> None:
    found = report_factories.many(160)
    assert len(similarity_csv(found, FlagRule(0.0)).splitlines()) == 160 * 159 // 2 + 1
    assert len(similarity_csv(found, FlagRule(1.0)).splitlines()) == similarity_tables.LEAST_PAIRS + 1
