"""What is installed on Linux agrees with the project."""

import configparser
import xml.etree.ElementTree as ET
from datetime import UTC, date, datetime
from pathlib import Path

import icons
import linux
from project import HERE, PROJECT, VERSION

import dev
from app.core_link.workspaces import ENDING

COMMANDS = {*PROJECT["scripts"], *PROJECT["gui-scripts"]}
MIME_NAMES = {"m": "http://www.freedesktop.org/standards/shared-mime-info"}


def entry() -> configparser.SectionProxy:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(HERE / "linux" / "mcp-tef-desktop.desktop", "utf-8")
    return parser["Desktop Entry"]


def metainfo() -> ET.Element:
    return ET.fromstring(linux.metainfo())


def mime_type() -> ET.Element:
    found = ET.parse(HERE / "linux" / "mcp-tef.mime.xml").find("m:mime-type", MIME_NAMES)
    assert found is not None
    return found


def test_the_menu_starts_the_window_with_the_file_that_was_double_clicked() -> None:
    assert entry()["Exec"] == "mcp-tef-desktop %f"
    assert {"mcp-tef-desktop"} == set(PROJECT["gui-scripts"])


def test_a_double_click_on_a_workspace_finds_the_app() -> None:
    assert entry()["MimeType"] == f"{mime_type().get('type')};"
    globs = [glob.get("pattern") for glob in mime_type().findall("m:glob", MIME_NAMES)]
    assert globs == [f"*.{ENDING}"]


def test_the_software_centre_is_told_of_this_version_and_both_commands() -> None:
    (release,) = metainfo().iter("release")
    assert release.get("version") == VERSION
    assert date.fromisoformat(release.get("date", "")) <= datetime.now(UTC).date()
    assert {binary.text for binary in metainfo().iter("binary")} == COMMANDS
    assert [media.text for media in metainfo().iter("mediatype")] == [mime_type().get("type")]


def test_both_commands_are_on_the_path() -> None:
    links = [content for content in linux.package_plan()["contents"] if content.get("type") == "symlink"]
    assert {link["dst"] for link in links} == {f"/usr/bin/{name}" for name in COMMANDS}


def test_all_that_is_put_beside_the_payload_is_there() -> None:
    contents = linux.package_plan()["contents"]
    files = [Path(content["src"]) for content in contents if "type" not in content]
    assert [str(file) for file in files if not file.is_file() and file.name != linux.METAINFO] == []
    assert {icons.size_file(size) for size in icons.SIZES} <= {file.name for file in files}


def test_the_rpm_asks_for_the_same_libraries_by_names_that_all_distributions_share() -> None:
    assert {f"{library}()(64bit)" for library in dev.LIBRARIES} <= set(linux.rpm_needs())


def test_the_package_asks_for_every_library_that_the_window_needs() -> None:
    assert set(dev.LIBRARIES.values()) <= set(linux.deb_needs())
