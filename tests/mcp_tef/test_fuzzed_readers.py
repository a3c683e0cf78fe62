"""Files of cases and servers, answers of models and lines of `score`, at random: read, or refused in a sentence."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_tef.model.transfer import CaseFileFormat, ServerFileFormat
from tests.support import fuzzing, fuzzing_configs

FEW = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.mark.parametrize("form", CaseFileFormat)
def test_a_file_of_cases_comes_in_or_is_refused_in_a_sentence(form: CaseFileFormat, tmp_path: Path) -> None:
    came_in = 0

    @FEW
    @given(fuzzing.case_files(form))
    def read(file: tuple[str, bytes]) -> None:
        nonlocal came_in
        came_in += fuzzing.check_import(form, *file, tmp_path)

    read()
    assert came_in > 15


@pytest.mark.parametrize("form", ServerFileFormat)
def test_a_config_of_servers_comes_in_or_is_refused_in_a_sentence(form: ServerFileFormat, tmp_path: Path) -> None:
    came_in = 0

    @settings(FEW, max_examples=30)
    @given(fuzzing_configs.config_files(form))
    def read(file: tuple[str, bytes]) -> None:
        nonlocal came_in
        came_in += fuzzing_configs.check_config(*file, tmp_path)

    read()
    assert came_in > 3


def test_a_review_or_a_rewrite_is_read_or_refused_in_a_sentence() -> None:
    found = 0

    @FEW
    @given(fuzzing_configs.advice())
    def read(text: str) -> None:
        nonlocal found
        found += fuzzing_configs.check_advice(text)

    read()
    assert found > 8


def test_an_answer_of_a_model_is_read_and_judged() -> None:
    found = 0

    @FEW
    @given(fuzzing.answers())
    def read(text: str) -> None:
        nonlocal found
        found += fuzzing.check_answer(text)

    read()
    assert found > 8


@FEW
@given(fuzzing.score_lines())
def test_a_line_gets_a_verdict_or_an_error_in_its_place(line: bytes) -> None:
    fuzzing.check_line(line)


@given(
    st.sampled_from(["\n", " ", "- ", "> ", "Confidence: 1 ", "confidence\n", '{"a":', "{", '{"a":[', "```json\n", "0"])
)
@settings(max_examples=11)
def test_a_long_answer_of_one_piece_takes_no_longer_than_its_length(piece: str) -> None:
    for end in ("", "x", "}"):
        fuzzing.check_answer("Confidence: 1" + piece * (30_000 // len(piece)) + end)
