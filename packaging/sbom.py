"""The bill of materials of the payload, as CycloneDX."""

import json
import re
import uuid
from collections.abc import Sequence
from typing import Any

from licences import Part, parts
from project import PACKAGE, SBOM, SUMMARY, VERSION

SPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
SPDX = {
    *("Apache-2.0", "MIT", "MIT-0", "MIT-CMU", "BSD-3-Clause", "BSD-2-Clause", "PSF-2.0", "LGPL-3.0-only", "MPL-2.0"),
    *("ISC", "Unicode-DFS-2016"),
}
SAME = {
    **dict.fromkeys(("MIT License", "The MIT License (MIT)"), "MIT"),
    **dict.fromkeys(("Apache 2.0", "Apache License 2.0", "Apache License, Version 2.0"), "Apache-2.0"),
    **dict.fromkeys(("3-Clause BSD License", "Modified BSD License"), "BSD-3-Clause"),
}
SEVERAL = re.compile(r"[\w.-]+( (AND|OR|WITH) [\w.-]+)+")


def write_sbom() -> None:
    """Write the bill; the same parts give the same bill."""
    SBOM.parent.mkdir(exist_ok=True)
    SBOM.write_text(json.dumps(bill(parts()), indent=1), "utf-8")


def bill(found: Sequence[Part]) -> dict[str, Any]:
    """Return the bill of materials for these parts."""
    components = [_component(part) for part in found if part.name != PACKAGE]
    references = [component["bom-ref"] for component in components]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(SPACE, ' '.join(references))}",
        "version": 1,
        "metadata": {"component": {**_named("application", PACKAGE, VERSION), "description": SUMMARY}},
        "components": components,
        "dependencies": [{"ref": _reference(PACKAGE, VERSION), "dependsOn": references}],
    }


def _component(part: Part) -> dict[str, Any]:
    kind = "machine-learning-model" if "MiniLM" in part.name else "library"
    return {**_named(kind, part.name, part.version, part.kind), "licenses": [_licence(part.licence)]}


def _licence(said: str) -> dict[str, Any]:
    """Return a licence by its SPDX id, several as an expression, and any other as it was declared."""
    licence = SAME.get(said, said)
    if SEVERAL.fullmatch(licence):
        return {"expression": licence}
    return {"license": {"id": licence} if licence in SPDX else {"name": licence}}


def _named(kind: str, name: str, version: str, origin: str = "generic") -> dict[str, Any]:
    reference = _reference(name, version, origin)
    return {"type": kind, "bom-ref": reference, "name": name, "version": version, "purl": reference}


def _reference(name: str, version: str, origin: str = "generic") -> str:
    return f"pkg:{origin}/{'debian/' if origin == 'deb' else ''}{name}@{version}"
