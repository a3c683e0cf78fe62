"""The official conformance suite on our adapter: headers of arguments, which no other test has a judge for.

`dev.py bench conformance` plays every scenario.
"""

import os
from pathlib import Path

import pytest

from tests.support.conformance_suite import judged


@pytest.mark.timeout(900)
def test_the_suite_of_the_protocol_is_content_with_our_headers(tmp_path: Path) -> None:
    said = judged("http-custom-headers", tmp_path, os.environ)
    assert said.passed, said.words[-4000:]
