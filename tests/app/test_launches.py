"""What is shown of a program before it is started."""

from PySide6.QtWidgets import QApplication, QWidget

from app.launches import ConsentSheet, LaunchView, launch_rows, risk_rows
from app.widgets import Button, joined
from mcp_tef import ServerSpec, Transport
from tests.support.windows import drive, shown, until

SPEC = ServerSpec(
    name="docs",
    transport=Transport.STDIO,
    command="npx",
    args=("-y", "@acme/docs", "my hand book"),
    cwd="/srv/books",
    env={"TOKEN": "hush-4711", "NODE_OPTIONS": "--inspect"},
    env_file="/srv/books/.env",
)


def rows(spec: ServerSpec) -> dict[str, str]:
    shown_rows = (*launch_rows(spec), *risk_rows(spec))
    return {label: value if isinstance(value, str) else joined(value) for label, value in shown_rows}


def test_all_of_a_launch_is_shown_but_no_value_of_a_variable() -> None:
    said = rows(SPEC)
    assert said["Command"].strip() == "npx -y @acme/docs 'my hand book'"
    assert (said["Folder"], said["Variables"]) == ("/srv/books", "TOKEN, NODE_OPTIONS")
    assert said["From a file"].startswith("/srv/books/.env")
    assert "hush-4711" not in str(said)


def test_what_is_worth_a_second_look_stands_below_and_nothing_where_there_is_nothing() -> None:
    assert "“npx” fetches the newest “@acme/docs”" in rows(SPEC)["Look twice"]
    assert "“NODE_OPTIONS” can make it run code" in rows(SPEC)["Look twice"]
    assert "Look twice" not in rows(ServerSpec(name="x", transport=Transport.STDIO, command="serve"))


def test_an_endless_command_leaves_the_buttons_in_the_window(qapp: QApplication) -> None:
    async def work() -> None:
        window = shown(QWidget(), 1280, 800)
        args = tuple(f"--path=/srv/{number}" for number in range(3_000))
        sheet = ConsentSheet(ServerSpec(name="x", transport=Transport.STDIO, command="serve", args=args), window)
        sheet.open()
        await until(lambda: sheet.findChildren(Button)[-1].isVisible())
        assert sheet.height() < 640
        assert sheet.findChild(LaunchView).height() > 150  # type: ignore[union-attr]  # it is there
        sheet.reject()
        window.close()
        window.deleteLater()

    drive(work())


def test_a_command_that_is_cut_says_how_much_is_missing() -> None:
    said = rows(ServerSpec(name="x", transport=Transport.STDIO, command="serve", args=("a" * 9_000, "b" * 9_000)))
    assert said["Command"].endswith("b … (8,005 more characters)")
    assert "The command is 18,005 characters long." in said["Look twice"]
