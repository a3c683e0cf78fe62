"""Texts without the secrets that are held, those that are known, and whatever looks like one."""

import logging

import pytest

from mcp_tef.model.secrets import (
    MASK,
    RedactingFormatter,
    Secret,
    secrets_in,
    without,
    without_credentials,
    without_keys,
)

KEY = "quite~unlike+a/key"


def test_a_secret_is_taken_out_of_every_text_as_long_as_somebody_holds_it() -> None:
    first, second = Secret(KEY), Secret(KEY)
    assert without_keys(f"({KEY})") == f"({MASK})"
    del first
    assert without_keys(f"({KEY})") == f"({MASK})"
    assert second.reveal() == KEY
    del second
    assert without_keys(f"({KEY})") == f"({KEY})"


def test_the_longer_of_two_secrets_goes_first() -> None:
    held = (Secret("longsecret"), Secret("longsecret-and-more"))
    assert without_keys("longsecret-and-more", held) == MASK


@pytest.mark.parametrize(
    "text",
    [
        "a key sk-abcdefghijklmnop",
        "Authorization: Bearer abc.def-123",
        "Basic dXNlcjpwYXNzd29yZDE=",
        'api_key="hunter2hunter2"',
        "https://host/mcp?key=abcdef123456",
        '{"token": "abcdef123456"}',
    ],
)
def test_what_looks_like_a_key_is_taken_out(text: str) -> None:
    assert MASK in without_keys(text)


@pytest.mark.parametrize("text", ["basic information", "4097 tokens: too many", "a bearer", "The key: to it all"])
def test_plain_words_stay(text: str) -> None:
    assert without_keys(text) == text


def test_variables_whose_names_say_so_are_secret() -> None:
    environment = {"OPENAI_API_KEY": "abcdefgh", "CITY_PASS": "ijklmnop", "HOME": "/home/you", "A_TOKEN": "short"}
    assert {secret.reveal() for secret in secrets_in(environment)} == {"abcdefgh", "ijklmnop"}


def test_the_folder_that_a_shell_works_in_is_no_secret() -> None:
    environment = {"PWD": "/home/ada/shop", "OLDPWD": "/home/ada", "MYSQL_PWD": "abcdefgh"}
    assert [secret.reveal() for secret in secrets_in(environment)] == ["abcdefgh"]


def test_a_json_value_is_cleaned_in_its_texts_and_names() -> None:
    value = {"a": [f"x {KEY}", 1, None], KEY: {"b": True}}
    assert without(value, [Secret(KEY)]) == {"a": [f"x {MASK}", 1, None], MASK: {"b": True}}


def test_a_line_of_a_log_is_written_without_keys_traceback_included() -> None:
    secret = Secret(KEY)
    try:
        raise ValueError(secret.reveal())
    except ValueError as error:
        record = logging.LogRecord("a", logging.ERROR, "a.py", 1, "said %s", (KEY,), (type(error), error, None))
    line = RedactingFormatter().format(record)
    assert "said" in line
    assert "ValueError" in line
    assert KEY not in line


@pytest.mark.parametrize(
    ("address", "plain"),
    [
        ("https://ines:hush@h.test/v1", "https://h.test/v1"),
        ("https://h.test/v1?api_key=hush&api-version=2024", "https://h.test/v1?api-version=2024"),
        ("https://h.test/v1?api-version=2024&access_token=hush", "https://h.test/v1?api-version=2024"),
        ("https://h.test/v1?sig=hush", "https://h.test/v1"),
        ("http://localhost:11434/v1?keep_alive=5m&author=ines", "http://localhost:11434/v1?keep_alive=5m&author=ines"),
    ],
)
def test_an_address_loses_its_password_and_keys_and_nothing_else(address: str, plain: str) -> None:
    assert without_credentials(address) == plain
