"""Every option with hostile values in a project file: nothing outside is read, written, started or contacted."""

import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from mcp_tef import OPTIONS
from tests.support.command_line import say
from tests.support.workspace_files import case, case_file, tools_file

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes and links are made as POSIX makes them")
SECRET = "secret-of-the-user"


class Listener:
    """A port of this machine that counts who connects."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.contacts = 0
        self._thread = Thread(target=self._count)
        self._thread.start()

    def _count(self) -> None:
        while True:
            with closing(self._socket.accept()[0]) as caller:
                if caller.recv(4) == b"stop":
                    return
                self.contacts += 1

    def close(self) -> None:
        """Stop counting."""
        with closing(socket.create_connection(("127.0.0.1", self.port))) as own:
            own.sendall(b"stop")
        self._thread.join()
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    """A listener that ends with the test."""
    made = Listener()
    yield made
    made.close()


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of somebody else, with links, pipes and files of theirs; the current folder."""
    place = tmp_path / "clone"
    (place / "sub").mkdir(parents=True)
    (place / ".git").mkdir()
    tools_file(place)
    case_file(place, [case("$(touch marker)", [{"tool": "weather_report"}])])
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("tools.json", "cases.json", ".bashrc", "results.xml"):
        (outside / name).write_text(SECRET, "utf-8")
    (place / "link.json").symlink_to(outside / "tools.json")
    (place / "dangling.csv").symlink_to(outside / "new.csv")
    (place / "away").symlink_to(outside)
    os.mkfifo(place / "pipe")
    monkeypatch.chdir(place)
    monkeypatch.setenv("HOSTILE_TEST_TOKEN", SECRET)
    return place


def hostile(place: Path, port: int, ending: str) -> list[object]:
    """Values that would reach something outside, if an option took them as they are."""
    outside, endings = place.parent / "outside", [ending] if ending else []
    paths = ["~/.bashrc", "/etc/passwd", "../outside/cases.json", str(outside / ".bashrc"), "away/tools.json"]
    paths += ["link.json", "dangling.csv", "pipe", "sub", "/dev/stdin", "/dev/zero", "-", "", "x\0y", "sub/../../x.csv"]
    named = [f"{name}{ending}" for name in ("../x", str(outside / "x"), "away/x", "CLAUDE") for ending in endings]
    given = [f"@{path}" for path in ("/proc/self/environ", "../outside/.bashrc", "link.json", "pipe", "-", "/dev/zero")]
    places = [f"http://127.0.0.1:{port}", f"tcp://127.0.0.1:{port}", f"//127.0.0.1:{port}/x", f"file://{outside}"]
    programs = [f"touch {outside / 'marker'}", f"sh -c 'touch {outside / 'marker'}'", f"$(touch {outside / 'marker'})"]
    odd = [True, 10**30, -1, 1e308, [], ["a"] * 3, {"a": "b"}, [[1]], f"--csv={outside / 'x.csv'}"]
    return [*paths, *named, *given, *places, *programs, *odd, f"name={outside / 'tools.json'}", "group/x", "router/x"]


def outside_of(place: Path) -> dict[str, str]:
    """Every file outside of the clone, with its content."""
    return {str(one): one.read_text("utf-8") for one in (place.parent / "outside").rglob("*") if one.is_file()}


def toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + "}"
    return json.dumps(value).replace("1e+308", "1e308")


@pytest.mark.parametrize("name", [option.name for option in OPTIONS.values() if not option.use.is_refused])
def test_no_value_of_an_option_reaches_outside(clone: Path, listener: Listener, name: str) -> None:
    base = {"cases": '"cases.json"', "tools-file": '"tools.json"'}
    before, files = outside_of(clone), {one for one in clone.rglob("*") if "mcp-tef-results" not in one.parts}
    for value in hostile(clone, listener.port, OPTIONS[name].ending):
        for kind, text in (("plain", toml(value)), ("list", f"[{toml(value)}]")):
            if kind == "list" and name not in ("server-command", "url", "tools-file", "model"):
                continue
            lines = [f"{key} = {one}" for key, one in {**base, name: text}.items()]
            (clone / "mcp-tef.toml").write_text("\n".join(lines), "utf-8")
            said = say("run", "--yes", "--max-cost", "0.01")
            assert said.code in (0, 1, 2, 3), (value, said.err)
            assert SECRET not in said.out + said.err, value
            assert (outside_of(clone), listener.contacts) == (before, 0), value
    assert {one for one in clone.rglob("*") if "mcp-tef-results" not in one.parts} - files == {clone / "mcp-tef.toml"}
    results = clone / "mcp-tef-results"
    assert {one.suffix for one in results.rglob("*")} <= {OPTIONS[name].ending}


@pytest.mark.parametrize("option", [one for one in OPTIONS.values() if one.ending], ids=lambda one: one.name)
def test_a_result_follows_no_link_and_has_a_plain_name(clone: Path, option: object) -> None:
    name, ending = option.name, option.ending  # type: ignore[attr-defined]
    outside, results = clone.parent / "outside", clone / "mcp-tef-results"
    base = 'cases = "cases.json"\ntools-file = "tools.json"\n'

    def code(text: str) -> int:
        (clone / "mcp-tef.toml").write_text(f"{base}{name} = {json.dumps(text)}", "utf-8")
        return say("run", "--fail-under", "0").code

    results.symlink_to(outside)
    assert code(f"results{ending}") == 2
    results.unlink()
    results.mkdir()
    for there in (lambda one: one.symlink_to(outside / "new"), lambda one: one.mkdir(), os.mkfifo):
        place = results / f"results{ending}"
        there(place)
        assert code(f"results{ending}") == 2
        place.rmdir() if place.is_dir() else place.unlink()
    for bad in ("a/b", "../results", ".results", "-x", "a b", "CON", "résultats", "results.py", "x" * 101, "results\n"):
        assert code(f"{bad}{ending}") == 2, bad
    assert code(f"results{ending}") == code(f"mcp-tef-results/results{ending}") == 0
    first = (results / f"results{ending}").stat().st_size
    assert code(f"results{ending}") == 0
    assert abs((results / f"results{ending}").stat().st_size - first) < 100, "nothing is appended"
    assert not (outside / "new").exists()


@pytest.mark.parametrize("reference", ["file://../outside/cases.json", "file:///etc/passwd", "file://away/tools.json"])
def test_a_case_file_of_the_project_leads_to_no_other_file(clone: Path, reference: str) -> None:
    for text in (f"tests: {reference}", f"prompts: [{reference}]\ntests: [{{vars: {{query: {reference}}}}}]"):
        (clone / "suite.yaml").write_text(text, "utf-8")
        (clone / "mcp-tef.toml").write_text('cases = "suite.yaml"\ntools-file = "tools.json"', "utf-8")
        said = say("run")
        assert (said.code, SECRET in said.out + said.err) == (2, False), said.err


def test_the_project_file_itself_is_no_link_or_pipe(clone: Path) -> None:
    outside = clone.parent / "outside" / "other.toml"
    outside.write_text('cases = "cases.json"', "utf-8")
    (clone / "mcp-tef.toml").symlink_to(outside)
    assert say("run").code == 2
    (clone / "mcp-tef.toml").unlink()
    os.mkfifo(clone / "mcp-tef.toml")
    assert "mcp-tef.toml" not in say("run").err


def test_a_link_inside_the_folder_is_read(clone: Path) -> None:
    (clone / "here.json").symlink_to("cases.json")
    (clone / "mcp-tef.toml").write_text('cases = "here.json"\ntools-file = "sub/../tools.json"', "utf-8")
    assert say("run", "--fail-under", "0").code == 0
