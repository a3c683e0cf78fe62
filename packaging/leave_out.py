"""What the payload takes beside the imports that are found, and what it leaves out; README says why."""

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path, PurePath

Entry = tuple[str, str, str]

MODULES = (
    *("tkinter", "lib2to3", "ensurepip", "idlelib", "readline", "pip", "setuptools"),
    *("IPython", "matplotlib", "pandas", "torch", "sklearn", "pytest", "OpenGL", "cupy", "numba", "fastapi"),
    *("hf_xet", "litellm.rust_bridge._native", "litellm.proxy.proxy_server"),
    *("numpy.f2py", "PIL._avif", "PIL._webp", "PIL.ImageQt", "PIL.ImageTk"),
    *("onnxruntime.quantization", "onnxruntime.tools", "onnxruntime.transformers", "onnxruntime.training"),
    *("PySide6.QtQml", "PySide6.QtQuick"),
    *("pyqtgraph.opengl", "pyqtgraph.examples", "pyqtgraph.jupyter", "pyqtgraph.console"),
)
LOADED_BY_NAME = ("qtawesome", "tiktoken", "PySide6.QtOpenGL", "PySide6.QtOpenGLWidgets")
PLATFORMS = ("*xcb*", "*wayland*", "*offscreen*", "*qwindows*", "*qcocoa*")
QT_PLUGINS_KEPT = (
    *(f"platforms/{one}" for one in PLATFORMS),
    *("xcbglintegrations/*", "platforminputcontexts/*", "wayland-*/*", "styles/*", "imageformats/*svg*"),
    *("iconengines/*svg*", "imageformats/*ico*", "imageformats/*icns*"),
)
FILES = (
    *("PySide6/**/translations/*", "PySide6/**/qml/*", "litellm/proxy/*", "qtawesome/fonts/*", "pyqtgraph/icons/*"),
    *("litellm/**/*.md", "litellm/**/*.wav", "*/tests/*", "botocore/data/*", "pyqtgraph/examples/*"),
    "*libQt6EglFS*",
)
FILES_KEPT = (
    *("qtawesome/fonts/phosphor-*", "botocore/data/endpoints.json", "botocore/data/partitions.json"),
    *("botocore/data/sdk-default-configuration.json", "botocore/data/_retry.json"),
    *(
        f"botocore/data/{service}/*"
        for service in ("bedrock*", "sts", "sso", "sso-oidc", "signin", "sagemaker-runtime")
    ),
)
SYSTEM_KEPT = re.compile(r"lib(python3|ssl|crypto|sqlite3|ffi|bz2|lzma|z|uuid|expat)\b")


def modules_of(package: Path) -> list[str]:
    """Every module of a package that loads parts of itself by their names; told by its files, so that none is run."""
    files = (file.relative_to(package.parent).with_suffix("") for file in package.rglob("*.py"))
    names = (".".join(file.parts).removesuffix(".__init__") for file in files)
    return [name for name in names if not name.startswith(MODULES)]


def kept(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Return the files to ship: Qt's plugins for this platform, and the system libraries that Python needs."""
    return (entry for entry in entries if _keeps(PurePath(entry[0]).as_posix(), entry[1]))


def _keeps(target: str, source: str) -> bool:
    if source.startswith(("/lib/", "/usr/lib/")):
        return SYSTEM_KEPT.match(target) is not None
    _, is_plugin, plugin = target.partition("/plugins/")
    if is_plugin:
        return any(fnmatch(plugin, pattern) for pattern in QT_PLUGINS_KEPT)
    return not _matches(target, FILES) or _matches(target, FILES_KEPT)


def _matches(target: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch(target, pattern.replace("**/", "*")) for pattern in patterns)
