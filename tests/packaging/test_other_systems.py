"""What Windows and macOS are told agrees with the project."""

import re
import sys

import macos
import windows
import yaml
from project import BILL, BUILD, MACHINE, PROJECT, ROOT, VERSION

from app.core_link.workspaces import ENDING

SCRIPT = windows.SCRIPT.read_text("utf-8")


def test_the_windows_installer_asks_for_no_administrator_and_writes_for_one_user_only() -> None:
    assert "RequestExecutionLevel user" in SCRIPT
    assert "HKLM" not in SCRIPT
    assert "$LOCALAPPDATA\\Programs" in SCRIPT


def test_the_windows_installer_is_given_every_name_that_it_uses() -> None:
    defined = {*re.findall(r"!define (\w+)", SCRIPT), *windows.given(BUILD, BUILD)}
    assert set(re.findall(r"\$\{(\w+)\}", SCRIPT)) - defined == {"GetSize", "RefreshShellIcons"}
    assert windows.given(BUILD, BUILD)["VERSION"] == VERSION


def test_the_uninstaller_takes_both_programs_and_no_work() -> None:
    removal = SCRIPT.partition('Section "Uninstall"')[2]
    assert {f'Delete "$INSTDIR\\{name}.exe"' for name in (*PROJECT["scripts"], *PROJECT["gui-scripts"])} <= {
        line.strip() for line in removal.splitlines()
    }
    assert "APPDATA" not in removal
    assert re.findall(r"RMDir /r (.*)", removal) == ['"$INSTDIR\\_internal"']


def test_a_double_click_opens_a_workspace_on_windows_and_macos() -> None:
    assert f"Software\\Classes\\.{ENDING}" in SCRIPT
    (exported,) = macos.PROPERTIES["UTExportedTypeDeclarations"]
    (document,) = macos.PROPERTIES["CFBundleDocumentTypes"]
    assert exported["UTTypeTagSpecification"]["public.filename-extension"] == [ENDING]
    assert document["LSItemContentTypes"] == [exported["UTTypeIdentifier"]]


def test_the_mac_app_has_this_version() -> None:
    assert macos.PROPERTIES["CFBundleShortVersionString"] == VERSION


def test_the_files_of_a_release_do_not_share_a_name_across_systems() -> None:
    assert sys.platform in BILL
    assert MACHINE in BILL


def test_the_job_that_attaches_a_release_may_fetch_what_the_others_built() -> None:
    job = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))["jobs"]["attach"]
    assert any("gh run download" in step["run"] for step in job["steps"])
    assert job["permissions"] == {"actions": "read", "contents": "write"}


def test_the_windows_installer_takes_files_by_paths_that_windows_reads() -> None:
    assert [line for line in SCRIPT.splitlines() if re.match(r"\s*(File|Delete|RMDir) .*[^\s]/[^\s]", line)] == []
    assert 'File /r "${PAYLOAD}\\*"' in SCRIPT
