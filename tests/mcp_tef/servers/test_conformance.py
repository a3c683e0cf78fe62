"""The official conformance suite on our adapter: two of its scenarios; `dev.py bench conformance` does them all."""

import os
from pathlib import Path

import pytest

from tests.support.conformance_suite import judged


@pytest.mark.timeout(900)
@pytest.mark.parametrize("scenario", ["http-custom-headers", "auth/pre-registration"])
def test_the_suite_of_the_protocol_is_content_with_us(scenario: str, tmp_path: Path) -> None:
    said = judged(scenario, tmp_path, os.environ)
    assert said.passed, said.words[-4000:]
