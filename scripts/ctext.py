# SPDX-License-Identifier: MIT
"""What the gates share: which files there are, and C text without comments, strings, and with the
functions found. Line numbers count from 1. Not a parser: it counts brackets, which is enough for
code that clang-format has laid out."""

import argparse
import bisect
import pathlib
import re
import sys

C_SUFFIXES = {".c", ".h", ".cpp", ".hpp"}
FOLDERS = ["include", "src", "tools", "examples", "bench", "tests", "scripts", "cmake", "ext"]


def parse_root(doc, *more):
    """The command line of a gate: an optional --root, and what `more` adds."""
    parser = argparse.ArgumentParser(description=doc)
    default = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--root", type=pathlib.Path, default=default, help="the tree to look at")
    for names, options in more:
        parser.add_argument(*names, **options)
    args = parser.parse_args()
    args.root = args.root.resolve()
    return args


def files(root, folders=None, suffixes=C_SUFFIXES):
    """All files with these suffixes below the folders, sorted, as paths relative to root."""
    found = []
    for folder in folders or FOLDERS:
        for path in (root / folder).rglob("*"):
            if path.suffix in suffixes and path.is_file():
                found.append(path.relative_to(root))
    return sorted(found)


def finish(gate, errors, summary):
    """Print what is wrong, or one line that all is well, and leave."""
    for error in errors:
        print(error)
    if errors:
        print(f"{gate}: FAILED, {len(errors)} found")
        sys.exit(1)
    print(f"{gate}: ok, {summary}")
    sys.exit(0)


_TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')""",
    re.DOTALL,
)


def _spaces(text):
    return re.sub(r"[^\n]", " ", text)


class CText:
    """A C file: `code` has comments and the insides of strings as spaces, at the same offsets."""

    def __init__(self, text):
        self.text = text
        self.lines = text.split("\n")
        self.comments = []  # (first offset, offset behind the end, text)
        self._starts = [0]
        for match in re.finditer("\n", text):
            self._starts.append(match.end())

        def blank(match):
            if match.group("comment") is not None:
                self.comments.append((match.start(), match.end(), match.group()))
                return _spaces(match.group())
            return match.group()[0] + _spaces(match.group()[1:-1]) + match.group()[-1]

        self.code = _TOKEN.sub(blank, text)

    def line_of(self, offset):
        return bisect.bisect_right(self._starts, offset)

    def directives(self):
        """(line, text with continuations joined) of each preprocessor line."""
        for match in re.finditer(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", self.code, re.MULTILINE):
            yield self.line_of(match.start()), match.group().replace("\\\n", " ").strip()

    def includes(self):
        """(line, "<x.h>" or "\\"x.h\\"") of each include."""
        for number, line in self.directives():
            if re.match(r"#\s*include\b", line):
                match = re.search(r'[<"][^>"]+[>"]', self.lines[number - 1])
                if match:
                    yield number, match.group()

    def plain(self):
        """The code without preprocessor lines, at the same offsets."""
        return re.sub(
            r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
            lambda m: _spaces(m.group()),
            self.code,
            flags=re.MULTILINE,
        )

    def functions(self):
        """(name, first line, last line, offset of "{", offset behind "}") of each definition."""
        found = []
        plain = self.plain()
        depth = 0  # of brackets inside a function or a list of initial values
        head = 0  # where the present declaration begins
        opened = None
        for match in re.finditer(r"[{};]", plain):
            sign = match.group()
            if depth == 0:
                before = plain[head : match.start()]
                if sign == "{":
                    name = _function_name(before)
                    if name is not None or before.rstrip().endswith("="):
                        opened = (name, head, before, match.start())
                        depth = 1
                    else:  # struct, enum, extern "C", namespace: looked into
                        head = match.end()
                else:
                    head = match.end()
            elif sign == "{":
                depth += 1
            elif sign == "}":
                depth -= 1
                if depth == 0:
                    name, start, before, brace = opened
                    if name is not None:
                        start += len(before) - len(before.lstrip())
                        first, last = self.line_of(start), self.line_of(match.start())
                        found.append((name, first, last, brace, match.end()))
                    head = match.end()
        return found


def _function_name(before):
    """The name that the text before a "{" defines, None if it is no function."""
    before = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", before.rstrip(), flags=re.DOTALL)
    before = re.sub(r"(?:\s*\b(?:const|noexcept|override|final))+$", "", before.rstrip()).rstrip()
    if not before.endswith(")"):
        return None
    depth = 0
    for at in range(len(before) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(before[at], 0)
        if depth == 0:
            match = re.search(r"([A-Za-z_]\w*)\s*$", before[:at])
            if match is None:  # a function that returns a pointer to a function
                match = re.search(r"\(\s*\*\s*([A-Za-z_]\w*)\s*\(", before[:at])
            return match.group(1) if match else None
    return None
