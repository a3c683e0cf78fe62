"""Files are read as data: nothing is unpickled, no YAML makes objects, and no XML of others is parsed."""

import ast
import re

from tests.support.source_modules import modules, source

PICKLES = {"cPickle", "cloudpickle", "dill", "joblib", "marshal", "pickle", "shelve"}
XML = re.compile(r"xml\.(?:sax|dom|etree|parsers)|lxml|expat|xmltodict|QtXml")
XML_WRITERS = {"Element", "SubElement", "indent", "tostring"}
CALLS = re.compile(
    r"yaml\.(?:load|load_all|unsafe_load\w*|full_load\w*|add_constructor|add_multi_constructor)|(?:np|numpy)\.load"
    r"|(?:torch|joblib)\.load|\w*\.?read_pickle|\w*\.?(?:XMLParser|fromstring|iterparse|QXmlStreamReader|QDomDocument)"
)


def imports() -> list[tuple[str, str, frozenset[str]]]:
    """Each import with its file, the module, and the names that are taken from it."""
    found: list[tuple[str, str, frozenset[str]]] = []
    for module in source():
        for node in module.nodes:
            if isinstance(node, ast.Import):
                found += [(module.path, alias.name, frozenset()) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                found.append((module.path, node.module or "", frozenset(alias.name for alias in node.names)))
    return found


def test_nothing_is_unpickled() -> None:
    assert [(path, name) for path, name, _ in imports() if name.partition(".")[0] in PICKLES] == []
    assert [module.path for module in source() if "allow_pickle=True" in module.text.replace(" ", "")] == []


def test_xml_is_written_and_never_parsed() -> None:
    read = [(path, name) for path, name, taken in imports() if XML.match(name) and not (taken and taken <= XML_WRITERS)]
    assert read == []


def test_yaml_is_read_by_the_safe_loader_and_by_no_other_call() -> None:
    from mcp_tef.formats.cases import texts

    calls = [
        (module.path, ast.unparse(call))
        for module in modules("app", "mcp_tef")
        for call in module.nodes
        if isinstance(call, ast.Call) and CALLS.fullmatch(ast.unparse(call.func))
    ]
    assert calls == [("mcp_tef/formats/cases/texts.py", "yaml.load(text, Loader=_Loader)")]
    assert {base.__name__ for base in vars(texts)["_Loader"].__mro__} & {"CSafeLoader", "SafeLoader"}
    made = vars(texts)["_Loader"].yaml_constructors
    assert not [tag for tag in made if tag and "python" in tag]
