"""What goes into the payload, what does not, and that each part comes with its licence."""

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import leave_out
import licences
import pytest
import sbom
import yaml
from project import HERE, PROJECT, REQUIREMENTS, ROOT

LOCK = (HERE / "requirements.lock").read_text("utf-8")
PIN = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)
SITE = "/site-packages/"


def test_everything_that_is_shipped_has_a_licence_and_its_text() -> None:
    found = licences.parts()
    assert [part.name for part in found if not part.licence or not any(part.texts.values())] == []
    assert {"python", "phosphor-icons", "all-MiniLM-L6-v2-int8"} <= {part.name for part in found}


def test_the_bill_of_materials_names_every_direct_dependency_once() -> None:
    bill = sbom.bill(licences.parts())
    names = [component["name"] for component in bill["components"]]
    wanted = {re.split(r"[<>=!; ]", requirement)[0] for requirement in REQUIREMENTS}
    assert wanted <= set(names)
    assert len(names) == len(set(names))
    assert json.loads(json.dumps(bill)) == bill


def test_the_bill_names_licences_by_their_spdx_names_where_they_have_some() -> None:
    said = ("MIT License", "Apache-2.0 OR BSD-2-Clause", "Dual License")
    parts = [licences.Part(f"part-{number}", "1", licence, {}) for number, licence in enumerate(said)]
    named = [component["licenses"] for component in sbom.bill(parts)["components"]]
    assert named == [
        [{"license": {"id": "MIT"}}],
        [{"expression": "Apache-2.0 OR BSD-2-Clause"}],
        [{"license": {"name": "Dual License"}}],
    ]


@pytest.mark.parametrize(
    ("target", "source", "kept"),
    [
        ("PySide6/Qt/plugins/platforms/libqxcb.so", SITE, True),
        ("PySide6/Qt/plugins/platforms/libqvnc.so", SITE, False),
        ("PySide6/Qt/plugins/imageformats/libqsvg.so", SITE, True),
        ("PySide6/Qt/translations/qt_de.qm", SITE, False),
        ("qtawesome/fonts/phosphor-1.3.0.ttf", SITE, True),
        ("qtawesome/fonts/fontawesome5-solid-webfont-5.15.4.ttf", SITE, False),
        ("botocore/data/bedrock-runtime/2023-09-30/service-2.json.gz", SITE, True),
        ("botocore/data/ec2/2016-11-15/service-2.json.gz", SITE, False),
        ("litellm/litellm_core_utils/tokenizers/anthropic_tokenizer.json", SITE, True),
        ("resources/model/model.onnx", "/home/someone/build", True),
        ("libssl.so.3", "/lib/x86_64-linux-gnu/libssl.so.3", True),
        ("libgtk-3.so.0", "/usr/lib/x86_64-linux-gnu/libgtk-3.so.0", False),
    ],
)
def test_what_is_kept_and_what_is_left_to_the_system(target: str, source: str, kept: bool) -> None:
    assert list(leave_out.kept([(target, source, "DATA")])) == ([(target, source, "DATA")] if kept else [])


def test_what_litellm_loads_when_a_call_fails_is_there() -> None:
    found = find_spec("litellm")
    assert found
    assert found.origin
    assert "litellm.proxy.guardrails.exception_utils" in leave_out.modules_of(Path(found.origin).parent)


def test_every_module_of_ours_is_named_for_the_payload() -> None:
    assert {"mcp_tef.cli.demo", "mcp_tef"} <= set(leave_out.modules_of(ROOT / "mcp_tef"))


def test_nothing_that_the_window_loads_is_left_out() -> None:
    ours = [name for name in leave_out.modules_of(ROOT / "app") if not name.endswith("__main__")]
    code = f"import sys, {', '.join((*ours, 'pyqtgraph'))}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert [name for name in done.stdout.split() if name.startswith(leave_out.MODULES)] == []


def test_the_app_is_built_of_the_very_versions_that_are_tested() -> None:
    tested = dict(PIN.findall((ROOT / "requirements.lock").read_text("utf-8")))
    built = dict(PIN.findall(LOCK))
    assert {name for name, version in built.items() if tested.get(name, version) != version} == set()
    tools = {re.split(r"[<>=!; ]", tool)[0] for tool in PROJECT["optional-dependencies"]["package"]}
    assert tools <= set(built)
    assert not tools & set(tested)
    assert "://" not in LOCK


@pytest.mark.parametrize(
    "file", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda file: Path(file).name
)
def test_workflows_run_pinned_actions_with_few_rights(file: Path) -> None:
    workflow = yaml.safe_load(file.read_text("utf-8"))
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    actions = [step["uses"] for step in steps if "uses" in step]
    assert [action for action in actions if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action)] == []
    assert workflow["permissions"] == {"contents": "read"}
    assert all("timeout-minutes" in job for job in workflow["jobs"].values())


def test_the_release_is_built_on_the_three_systems_by_the_same_command() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))
    build = workflow["jobs"]["build"]
    assert {name.partition("-")[0] for name in build["strategy"]["matrix"]["system"]} == {"ubuntu", "windows", "macos"}
    assert "python dev.py package" in [step.get("run") for step in build["steps"]]
