"""Questions about consent."""

from PySide6.QtWidgets import QApplication, QWidget

from app.dialogs.consent import ConsentDialog, ConsentView, fact_rows, warning_rows
from app.widgets import Button, joined
from mcp_tef import ServerSpec, Transport, launch_preview
from tests.support.windows import shown, until

SPEC = ServerSpec(
    name="docs",
    transport=Transport.STDIO,
    command="npx",
    args=("-y", "@acme/docs", "my hand book"),
    cwd="/srv/books",
    env={"TOKEN": "hush-4711", "NODE_OPTIONS": "--inspect", "KEY": "${DOCS_KEY:-none}"},
    env_file="/srv/books/.env",
)
ENDLESS = ServerSpec(name="x", transport=Transport.STDIO, command="serve", args=("a" * 9_000, "b" * 11_000))


def rows(spec: ServerSpec) -> dict[str, str]:
    request = launch_preview(spec, ("workspace /w.db",))
    shown_rows = (*fact_rows(request), *warning_rows(request))
    return {label: value if isinstance(value, str) else joined(value) for label, value in shown_rows}


def test_all_of_a_launch_is_shown() -> None:
    found = rows(SPEC)
    program, *arguments = found["Command"].splitlines()
    assert program.endswith('npx"')
    assert arguments == ['2. "-y"', '3. "@acme/docs"', '4. "my hand book"']
    assert found["Folder"] == '"/srv/books"'
    assert "← decides which code runs" in next(line for line in found["Sets"].splitlines() if "NODE_OPTIONS" in line)
    assert found["Sets from file"].startswith('"/srv/books/.env"')
    assert found["Reads"] == "DOCS_KEY"
    assert found["Listed in"] == "workspace /w.db"
    assert found["Runs as"]
    assert "hush-4711" in found["Sets"]


def test_warnings_stand_apart_and_only_where_there_are_some() -> None:
    assert "“npx” fetches the newest “@acme/docs”" in rows(SPEC)["Check these"]
    assert "“NODE_OPTIONS” can make it run code" in rows(SPEC)["Check these"]
    assert "Check these" not in rows(ServerSpec(name="x", transport=Transport.STDIO, command="serve"))


async def test_an_endless_command_leaves_the_buttons_in_the_window(qapp: QApplication) -> None:
    window = shown(QWidget(), 1280, 800)
    args = tuple(f"--path=/srv/{number}" for number in range(3_000))
    spec = ServerSpec(name="x", transport=Transport.STDIO, command="serve", args=args)
    sheet = ConsentDialog(launch_preview(spec, ()), window)
    sheet.open()
    await until(lambda: sheet.findChildren(Button)[-1].isVisible())
    assert sheet.height() < 640
    assert sheet.findChild(ConsentView).height() > 150  # type: ignore[union-attr]  # it is there
    sheet.reject()
    window.close()
    window.deleteLater()


def test_an_argument_that_is_cut_says_how_much_is_missing() -> None:
    found = rows(ENDLESS)
    assert " characters left out) … " in found["Command"]
    assert "too long to be shown whole" in found["Check these"]
