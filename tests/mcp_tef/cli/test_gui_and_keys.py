"""`gui` and `keys` where there is no screen and no keychain: words instead of a crash."""

from tests.support.command_line import run


def test_without_a_display_the_window_says_what_to_use_instead() -> None:
    said = run("gui", environment={"QT_QPA_PLATFORM": "", "DISPLAY": "", "WAYLAND_DISPLAY": ""})
    assert said.code == 3
    assert "mcp-tef demo" in said.err


def test_without_a_keychain_a_key_is_not_kept_and_not_shown() -> None:
    nobody = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
    said = run("keys", "set", "openai", stdin="sk-not-to-be-shown\n", environment=nobody)
    assert said.code == 3
    assert "OPENAI" in said.err or "environment variable" in said.err
    assert "sk-not-to-be-shown" not in said.out + said.err
    assert run("keys", "list", "--json", environment=nobody).document == {"providers": []}


def test_an_empty_key_is_refused() -> None:
    assert run("keys", "set", "openai").code == 2
