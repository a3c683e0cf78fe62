"""What the builder says on a machine that lacks something."""

import os
import re
import subprocess
import sys
from pathlib import Path

from project import HERE


def test_a_step_whose_program_is_missing_names_it_in_one_sentence(tmp_path: Path) -> None:
    bare = {**os.environ, "PATH": str(tmp_path)}
    command = [sys.executable, str(HERE / "build.py"), "bare_root"]
    done = subprocess.run(command, env=bare, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.fullmatch(r"The step bare_root needs (debootstrap|mount), which is not here\.\n", done.stderr)
