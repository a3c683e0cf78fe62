"""Texts in source files: only the one string changes, whatever the text, or nothing is offered."""

import ast
import io
import json
import tokenize
from inspect import cleandoc

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcp_tef.trust.source_documents import UnsureSourceError, source_document
from mcp_tef.trust.source_texts import has_hidden_characters, matched_source

OLD = "Looks for words."
PYTHON = {
    "double": 'd = "Looks for words."\nx = 1\n',
    "single": "d = 'Looks for words.'  # a comment\n",
    "triple": 'd = """Looks for words."""\n',
    "triple single": "d = '''Looks for \\\nwords.'''\n",
    "raw": "d = r'Looks for words.'\n",
    "raw triple": 'd = R"""Looks for words."""\n',
    "unicode": "d = u'Looks for words.'\n",
    "split": 'd = ("Looks for "\n  "words.")\n',
    "docstring": 'def f(a):\n    """Looks for words."""\n    return a\n',
    "long docstring": 'class A:\n  def f(self):\n    """\n    Looks for words.\n\n    """\n',
    "async docstring": "async def f():\n\t'''\n\tLooks for words.\n\t'''\n",
    "windows": 'def f():\r\n    """\r\n    Looks for words.\r\n    """\r\n',
    "byte order mark": '\ufeffd = "Looks for words."\n',
    "cookie": '# -*- coding: utf-8 -*-\nd = "Looks for words."; e = "ü😀"\n',
    "after letters of several bytes": 'e = "ü😀"; d = "Looks for words."\n',
    "argument": '@tool(description="Looks for words.")\ndef f(): ...\n',
    "old line ends": 'a = 1\rd = "Looks for words."\r',
    "line continued": 'd = "Looks for " \\\n    "words."\n',
}
JSON = {
    "plain": '{"a": [1.50, 1e400], "description": "Looks for words.", "a": "x"}',
    "indented": '{\r\n\t"description" : "Looks\\u0020for words.",\r\n\t"b": null\r\n}\r\n',
    "byte order mark": '\ufeff["Looks for words."]',
    "alone": '"Looks for words."',
}
SCRIPT = {
    "double": 'server.tool("look", "Looks for words.", {}, () => 1);\n',
    "single": "const d = 'Looks for words.'\n",
    "among slashes": "const a = b / 2; const r = s.replace(/[/'\"]\\/'/g, '-'); // it's\nf({d: 'Looks for words.'})\n",
    "beside templates": "const t = `it's ${f({a: `'`}) + '}'} \\` here`; /* ' */ g('Looks for words.');\n",
    "escapes": "#!/usr/bin/env node\nconst d = '\\u{4c}\\x6fok\\\ns for words.';\r\n",
}
INSIDE = {
    "a.py": (
        *('d = \'{{"description": "{}"}}\'', "d = 'echo \"{}\"'", "d = \"sh -c '{}'\"", "d = '<p title=\"{}\">'"),
        *('d = """Says.\n{}\n"""', 'def f():\n    """{}\n\n    More.\n    """', 'def f():\n    """Says. {}"""'),
        *(
            "def f(a: list[\"Annotated[str, '{}']\"]): ...",
            "cast(\"Annotated[str, '{}']\", d)",
            "d = ' {}'",
            "d = '{} '",
        ),
        *(
            "d = ('Says. '\n  '{}')",
            "d = 'Says. ' '{}'",
            "d = '{}\\n'",
            "d = r'\\d {}'",
            "d = u'{} ü'",
            "eval('f(\"{}\")')",
        ),
        *("d = 'Says {{}}. {}'.format(a)", "d = '%s {}' % a", "d = '\\u202e {}'"),
    ),
    "a.json": ('["{{\\"description\\": \\"{}\\"}}"]', "[\"echo '{}'\"]", '["{} "]', '["\\u003cp>{}"]'),
    "a.js": (
        *('d = \'{{"description": "{}"}}\'', "d = 'echo \"{}\"'", "d = '{} '", "d = '<p>{}'", "d = 'A \\\n {}'"),
        *("eval('f(\"{}\")')", "d = `${{f(' {}')}}`"),
    ),
}
HOSTILE = (
    *(
        'x"""\n    import os\n    """',
        "x'''",
        '"',
        "'",
        "\\",
        'a\\"',
        "a\\\\'",
        "tail\\",
        '""""""',
        "'''",
        '"""',
        "${exit()}",
        "`",
    ),
    *(
        "{exit()}",
        "\\N{DASH}",
        "\\x41\\u0041",
        "\\\n",
        "a\nb\n\n  c",
        "a\tb",
        "\ta",
        "# no",
        "// no */ ",
        "a\n    b\n  c\n",
    ),
    *("ü 漢 😀", "%s %(a)s", "\\", "'''\"\"\"", "\n", " ", "", "\\r\\n", "</script>", "a\n\n", "r'x'", " \n a"),
)
UNSEEN = (
    "\0",
    "\x1b",
    "\r",
    "\x7f",
    "\x85",
    "\u00ad",
    "\u200b",
    "\u202e",
    "\u2028",
    "\u2066",
    "\ufeff",
    "\ud800",
    "\U000e0041",
)
TEXTS = st.one_of(
    st.sampled_from(HOSTILE),
    st.lists(st.sampled_from(HOSTILE), min_size=2, max_size=3).map("".join),
    st.text("ab \n\t\\\"'`${}#/rux{N41ü😀", max_size=12),
)


def exchanged(name: str, source: str, new: str) -> str | None:
    """Return a file with the new text; None where it is only copied."""
    found = matched_source(name, source.encode(), OLD, new)
    assert found.number == 1, found
    assert (found.edited is None) == bool(found.reason)
    return None if found.edited is None else found.edited.decode()


def without_string(source: str) -> tuple[str, list[str], list[str]]:
    """Return a Python file without its strings, the strings themselves, and its comments."""
    tree = ast.parse(source.encode())
    values = list[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            values.append(node.value)
            node.value = ""
    lines = io.BytesIO(source.encode().replace(b"\r\n", b"\n").replace(b"\r", b"\n")).readline
    comments = [one.string for one in tokenize.tokenize(lines) if one.type == tokenize.COMMENT]
    return ast.dump(tree), values, comments


@pytest.mark.parametrize("source", PYTHON.values(), ids=PYTHON)
@given(TEXTS)
@settings(max_examples=25)
@example('"""\nimport os\n"""')
@example("\\")
def test_in_python_one_string_changes_and_nothing_else(source: str, new: str) -> None:
    after = exchanged("a.py", source, new)
    if after is None:
        return
    before_rest, after_rest = without_string(source), without_string(after)
    assert (before_rest[0], before_rest[2]) == (after_rest[0], after_rest[2])
    ((_, value),) = [pair for pair in zip(before_rest[1], after_rest[1], strict=True) if pair[0] != pair[1]] or [
        (OLD, new)
    ]
    assert new in (value, cleandoc(value).strip())


@pytest.mark.parametrize(
    "new", ['Says "no".\nThen it\'s \\d.', "x'''y", 'x"""\n    exit()\n    """', "{a} ${b} `c` ü😀"]
)
@pytest.mark.parametrize(
    ("name", "source"),
    [
        *(("a.py", source) for source in PYTHON.values()),
        *(("a.json", source) for source in JSON.values()),
        *(("a.ts", source) for source in SCRIPT.values()),
    ],
)
def test_what_an_author_writes_is_not_only_copied(name: str, source: str, new: str) -> None:
    assert exchanged(name, source, new) is not None


@pytest.mark.parametrize("source", JSON.values(), ids=JSON)
@given(TEXTS)
@settings(max_examples=15)
def test_in_json_one_string_changes_and_nothing_else(source: str, new: str) -> None:
    def parsed(text: str) -> object:
        return json.loads(text.removeprefix("\ufeff"), object_pairs_hook=list, parse_float=str)

    after = exchanged("a.json", source, new)
    assert after is not None
    assert json.dumps(parsed(after)) == json.dumps(parsed(source)).replace(OLD, json.dumps(new)[1:-1])
    assert source.partition("Looks")[0] == after[: source.index("Looks")]
    assert after.endswith(source[source.rindex('"', 0, source.rindex("words.") + 25) + 1 :])


@pytest.mark.parametrize("source", SCRIPT.values(), ids=SCRIPT)
@given(TEXTS)
@settings(max_examples=15)
def test_in_a_script_the_other_strings_stay_and_the_literal_holds_the_text(source: str, new: str) -> None:
    after = exchanged("a.js", source, new)
    if after is None:
        assert any(mark in new for mark in ("</", "/>", "-->"))
        return
    values = [[one.value for one in source_document("a.js", text.encode()).literals] for text in (source, after)]
    assert values[1] == [one.replace(OLD, new) for one in values[0]]


@pytest.mark.parametrize("unseen", UNSEEN)
@pytest.mark.parametrize(
    ("name", "source"), [("a.py", PYTHON["double"]), ("a.json", JSON["alone"]), ("a.js", SCRIPT["double"])]
)
def test_a_text_with_hidden_characters_is_only_copied(name: str, source: str, unseen: str) -> None:
    found = matched_source(name, source.encode(), OLD, f"a{unseen}b")
    assert (found.number, found.edited) == (1, None)
    assert "hidden" in found.reason


def test_pictures_are_not_hidden_and_selectors_behind_letters_are() -> None:
    assert not has_hidden_characters("✔️ done – “fine” 漢字 é 😀\n\t")
    assert has_hidden_characters("a\ufe0f")
    assert has_hidden_characters("✔\ufe01")


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("a.py", f'd = f"{OLD}"'),
        ("a.py", f'd = f"{{x}}" "{OLD}"'),
        ("a.py", f'd = b"{OLD}"'),
        ("a.py", f"# {OLD}\n"),
        ("a.py", f'# coding: latin-1\nd = "{OLD}"'),
        ("a.py", f'# vim: fileencoding=shift_jis\nd = "{OLD}"'),
        ("a.py", f'\ufeff# coding: cp1252\nd = "{OLD}"'),
        ("a.py", f'd = "{OLD}'),
        ("a.py", f'd = "{OLD}"\n' + "(" * 300),
        ("a.py", "+".join(['"a"'] * 5_000) + f' + "{OLD}"'),
        ("a.json", f'{{"{OLD}": 1}}'),
        ("a.json", f'{{"a": "{OLD}",}} // comment'),
        ("a.json", "[" * 5_000 + f'"{OLD}"' + "]" * 5_000),
        ("a.js", f"d = `{OLD}`"),
        ("a.js", f"// {OLD}"),
        ("a.js", f"d = /{OLD}/"),
        ("a.js", f"if (a) /'/.test('{OLD}')"),
        ("a.js", f"a\n/'/.test('{OLD}')"),
        ("a.js", f"return /'/.test('{OLD}')"),
        ("a.js", f"d = <p title='{OLD}'/>"),
        ("a.js", f"d = <p>it's {OLD}</p> // isn't"),
        ("a.js", f"// \u2028 d = '{OLD}'"),
        ("a.js", f"d = '\\01 {OLD}'"),
        ("a.js", f"d = '{OLD}"),
        *(
            (name, f'd = "{OLD}"')
            for name in ("a.jsx", "a.tsx", "a.go", "a.rb", "a.php", "a.sh", "a.toml", "a.yaml", "a.md", "a")
        ),
    ],
)
def test_where_the_literal_is_not_certain_the_text_is_only_copied(name: str, source: str) -> None:
    found = matched_source(name, source.encode(), OLD, "Finds.")
    assert (found.number, found.edited) == (1, None)
    assert found.reason.endswith(".")


@pytest.mark.parametrize("source", [f'a = "{OLD}"; b = "{OLD}"', f'a = "{OLD} {OLD}"', f'a = "{OLD}"  # {OLD}'])
def test_a_second_place_is_counted(source: str) -> None:
    assert matched_source("a.py", source.encode(), OLD, "Finds.").number == 2
    assert matched_source("a.py", b"a = 1", OLD, "Finds.").number == 0


@pytest.mark.parametrize(("name", "source"), [(name, one) for name, sources in INSIDE.items() for one in sources])
def test_a_text_inside_a_longer_string_is_only_copied(name: str, source: str) -> None:
    """What reads the longer string may take the text for JSON, markup, a command or an annotation."""
    found = matched_source(name, source.format(OLD).encode(), OLD, "Finds.")
    assert (found.number, found.edited, found.reason) == (1, None, "The text is only a part of a longer string.")


@pytest.mark.parametrize("old", ["Looks for words.\n\nMore:\n  b", "\n    Looks for words.\n\n    More:\n      b\n    ",
                                 "\nLooks for words.\n\nMore:\n  b\n"])  # fmt: skip
def test_a_docstring_of_several_lines_is_one_text_however_python_lists_it(old: str) -> None:
    source = 'def f():\n    """\n    Looks for words.\n\n    More:\n      b\n    """\n    return 1\n'
    edited = matched_source("a.py", source.encode(), old, "Finds.\n\n  c").edited
    kept = "" if old.startswith("\n    ") else "\n    "
    assert edited is not None
    assert edited.decode() == source.replace(source.split('"""')[1], f"{kept}Finds.\n\n{kept and '    '}  c{kept}")


def test_an_unknown_language_is_refused_by_name() -> None:
    with pytest.raises(UnsureSourceError, match="Only strings in Python"):
        source_document("a.rs", b"")


@pytest.mark.parametrize("place", ["def f({}): ...\n", "def f() -> {}: ...\n", "x: {} = None\n"])
def test_an_annotation_in_quotes_is_code_and_is_only_copied(place: str) -> None:
    quoted = "\"Annotated[str, 'Looks for words.']\""
    source = place.format(f"x: {quoted}" if "f({" in place else quoted)
    assert exchanged("a.py", source, "x', __import__('os').getcwd(), '") is None
    assert exchanged("a.py", source.replace(quoted, "Annotated[str, 'Looks for words.']"), "New.") is not None
