# SPDX-License-Identifier: MIT
"""What the public headers declare."""

import re

import ctext


def declared(root):
    """Names of all functions that the public headers mark FILCH_API."""
    names = set()
    for path in ctext.files(root, ["include/filch"], {".h"}):
        code = ctext.CText((root / path).read_text(encoding="utf-8")).plain()
        for match in re.finditer(r"\bFILCH_API\b([^;{]*?)\b(filch_\w+)\s*\(", code):
            names.add(match.group(2))
    return names
