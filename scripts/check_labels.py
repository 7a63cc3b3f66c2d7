#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gate: each ordered atomic access in src/ carries a label that names its partner, and
docs/memory-model.md is the table made from these labels (--write makes it).

    /* [ROOM-1] release, pairs with ROOM-2[, ROOM-3] [in f()]: one sentence. */

The comment ends on the line above the statement (or above the line of the call), or stands on the
same line. Two accesses in one statement take two comments, in their order; a compare-and-swap may
have two as well. "pairs with itself" is for a read-modify-write that meets its own twin. Labels are
unique, the order is that of the call, and every partner names this label back.
The accesses are the functions of src/base/atomic.h, which is exempt, with an order in their name."""

import bisect
import re

import ctext

ORDERS = "relaxed|acquire|release|acq_rel|seq_cst"
ATOMIC_H = "src/base/atomic.h"
TABLE = "docs/memory-model.md"
LABEL = r"[A-Z][A-Z0-9]*-[0-9]+"
HEAD = re.compile(
    rf"\[(?P<label>[^\]\s]+)\]\s+(?P<order>\w+),\s+pairs\s+with\s+(?P<partners>[^:]*?):\s*(?P<promise>.*)",
    re.DOTALL,
)
MARK = re.compile(rf"\[(?:{LABEL})\]")

INTRO = """# Memory model: every ordered access and its partner

Made by `scripts/check_labels.py --write` from the labels in the code: do not edit. A label stands
in a comment at its access; `rmw` is an access that reads and writes in one step. Model tests are
files of `tests/model/` that name the label; `-` means there is none yet.

"""


class Access:
    """One labelled comment and the call it belongs to."""

    def __init__(self, path, function, offset, call, order, match):
        self.offset = offset
        self.place = f"{path}:{function}()" if function else str(path)
        self.path, self.call, self.order = path, call, order
        self.label, self.said = match.group("label"), match.group("order")
        names = match.group("partners")
        self.partners = re.findall(LABEL, names)
        if re.match(r"itself\b", names):
            self.partners.insert(0, self.label)
        self.promise = " ".join(re.sub(r"\n\s*\*", " ", match.group("promise")).split())

    def kind(self):
        name = self.call.split("_")[1]
        return name if name in ("load", "store") else f"rmw ({name})"


def accessors(root):
    """{function: order} of the accessors with an order in their name."""
    path = root / ATOMIC_H
    if not path.is_file():
        return {}
    code = ctext.CText(path.read_text(encoding="utf-8")).code
    found = re.findall(rf"\b(filchi_\w+?_({ORDERS})(?:_\w+)?)\s*\(", code)
    return {name: order for name, order in found}


def statement_starts(plain):
    """Offsets at which a statement or a block begins; a `;` inside brackets begins none."""
    starts, depth = [0], 0
    for match in re.finditer(r"[(){};]", plain):
        sign = match.group()
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if depth == 0 and sign in "{};":
            starts.append(match.end())
    return starts


def comment_runs(source, first, last, call_line):
    """The comments that speak for a call, in order: those that begin a line in a block ending right
    above the lines first..last or among them, and those behind code on the call's own line."""
    ends = {}
    for start, end, text in source.comments:
        line = source.line_of(start)
        alone = source.text[: start].rpartition("\n")[2].strip() == ""
        ends[source.line_of(end - 1)] = (line, text, alone)
    picked, line = [], first - 1
    while line in ends and ends[line][2]:
        picked.insert(0, ends[line])
        line = ends[line][0] - 1
    for line in range(first, last + 1):
        if line in ends and (ends[line][2] or line == call_line):
            picked.append(ends[line])
    return [text for _, text, _ in picked]


def labels_in(text):
    """The labelled parts of one comment, as matches of HEAD."""
    body = re.sub(r"^/\*|\*/$", "", text)
    heads = [m for m in re.finditer(r"\[[^\]\s]+\](?=\s+\w+,\s+pairs\s+with)", body)]
    parts = [
        body[m.start() : heads[i + 1].start() if i + 1 < len(heads) else len(body)]
        for i, m in enumerate(heads)
    ]
    return [match for match in map(HEAD.match, parts) if match]


class File:
    def __init__(self, path, text, names):
        self.path, self.source = path, ctext.CText(text)
        plain = self.source.plain()
        self.starts = statement_starts(plain)
        self.functions = self.source.functions()
        pattern = r"\b(" + "|".join(map(re.escape, sorted(names, key=len, reverse=True))) + r")\s*\("
        self.calls = [(m.start(), m.group(1)) for m in re.finditer(pattern, plain)] if names else []
        self.plain = plain

    def function_at(self, offset):
        for name, _, _, brace, end in self.functions:
            if brace <= offset < end:
                return name
        return ""

    def statement_of(self, offset):
        """(index, first line) of the statement around an offset."""
        index = bisect.bisect_right(self.starts, offset) - 1
        rest = self.plain[self.starts[index] : offset]
        start = self.starts[index] + len(rest) - len(rest.lstrip())
        return index, self.source.line_of(start)

    def comments_for(self, offset):
        _, first = self.statement_of(offset)
        line = self.source.line_of(offset)
        return comment_runs(self.source, first, line, line)


def relaxed_has_reason(file, offset, lines_with_relaxed):
    """A comment at the access, at the run of relaxed accesses it belongs to, or "as all" above."""
    line = file.source.line_of(offset)
    if file.comments_for(offset):
        return True
    while line - 1 in lines_with_relaxed:
        line -= 1
        if file.comments_for(lines_with_relaxed[line]):
            return True
    for _, _, _, brace, end in file.functions:
        if brace <= offset < end and "relaxed, as all" in file.source.text[brace:offset]:
            return True
    return False


def check_file(file, names, errors):
    """(accesses, number of relaxed calls, places of those without a reason)"""
    relaxed = [offset for offset, name in file.calls if names[name] == "relaxed"]
    lines = {file.source.line_of(offset): offset for offset in relaxed}
    bare = [
        f"{file.path}:{file.source.line_of(offset)}"
        for offset in relaxed
        if not relaxed_has_reason(file, offset, lines)
    ]

    groups = {}
    for offset, name in file.calls:
        if names[name] != "relaxed":
            groups.setdefault(file.statement_of(offset)[0], []).append((offset, name))
    accesses = []
    for calls in groups.values():
        texts = []
        for offset, _ in calls:
            texts += [text for text in file.comments_for(offset) if text not in texts]
        found = [match for text in texts for match in labels_in(text)]
        place = f"{file.path}:{file.source.line_of(calls[0][0])}"
        many = len(calls) == 1 and not calls[0][1].startswith(("filchi_load", "filchi_store"))
        if len(found) != len(calls) and not (many and len(found) == 2):
            errors.append(
                f"{place}: {', '.join(name for _, name in calls)}: {len(found)} labels for "
                f"{len(calls)} ordered accesses"
            )
            continue
        pairs = zip(calls * len(found) if many else calls, found)
        for (offset, name), match in pairs:
            function = file.function_at(offset)
            accesses.append(Access(file.path, function, offset, name, names[name], match))
    return accesses, len(relaxed), bare


def check_pairs(accesses):
    errors, known = [], {}
    for access in accesses:
        where = f"{access.place} [{access.label}]"
        if not re.fullmatch(LABEL, access.label):
            errors.append(f"{where}: a label looks like ROOM-1")
        if access.label in known:
            errors.append(f"{where}: also in {known[access.label].place}")
        known.setdefault(access.label, access)
        halves = ("acquire", "release") if access.order == "acq_rel" else ()
        if access.said != access.order and access.said not in halves:
            errors.append(f"{where}: says {access.said}, the call is {access.order}")
        if not access.partners:
            errors.append(f"{where}: names no partner")
        if not access.promise:
            errors.append(f"{where}: promises nothing")
    for access in accesses:
        where = f"{access.place} [{access.label}]"
        for partner in access.partners:
            if partner not in known:
                errors.append(f"{where}: its partner {partner} does not exist")
            elif access.label not in known[partner].partners:
                errors.append(f"{where}: its partner {partner} does not name it back")
            elif partner == access.label and not access.kind().startswith("rmw"):
                errors.append(f"{where}: a {access.kind()} does not pair with itself")
    return errors


def check_strays(files, accesses, errors):
    """Labelled comments that no access owns, such as those an edit left behind."""
    owned = {(access.path, access.label) for access in accesses}
    for file in files:
        for start, _, text in file.source.comments:
            for match in labels_in(text):
                if (file.path, match.group("label")) not in owned:
                    line = file.source.line_of(start)
                    errors.append(f"{file.path}:{line}: [{match.group('label')}] labels no access")


def model_tests(root):
    """{label: [files of tests/model that name it]}"""
    found = {}
    for path in ctext.files(root, ["tests/model"], {".c"}):
        for label in set(re.findall(rf"\b{LABEL}\b", (root / path).read_text(encoding="utf-8"))):
            found.setdefault(label, []).append(path.name)
    return found


def table(root, accesses):
    tests = model_tests(root)
    rows = ["label", "file:function", "access", "order", "pairs with", "promise", "model test"]
    lines = ["| " + " | ".join(rows) + " |", "|---" * len(rows) + "|"]
    for access in sorted(accesses, key=lambda a: (a.label.split("-")[0], int(a.label.split("-")[1]))):
        partners = ["itself" if p == access.label else p for p in access.partners]
        cells = [
            access.label,
            f"`{access.place.removeprefix('src/')}`",
            access.kind(),
            access.said,
            ", ".join(partners),
            access.promise.replace("|", "\\|"),
            ", ".join(tests.get(access.label, ["-"])),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return INTRO + "\n".join(lines) + "\n"


def main():
    write = (("--write",), {"action": "store_true", "help": f"write {TABLE}"})
    show = (("--relaxed",), {"action": "store_true", "help": "list relaxed accesses without a reason"})
    args = ctext.parse_root(__doc__, write, show)
    names = accessors(args.root)
    paths = [p for p in ctext.files(args.root, ["src"]) if str(p) != ATOMIC_H]
    files = [File(p, (args.root / p).read_text(encoding="utf-8"), names) for p in paths]
    errors, accesses, relaxed, bare = [], [], 0, []
    for file in files:
        found, count, without = check_file(file, names, errors)
        accesses += found
        relaxed += count
        bare += without
    check_strays(files, accesses, errors)
    errors += check_pairs(accesses)
    reasons = relaxed - len(bare)
    share = f"{100 * reasons // relaxed}%" if relaxed else "all"
    print(f"relaxed accesses with a reason beside them: {reasons} of {relaxed} ({share})")
    if args.relaxed:
        print("\n".join(bare))
    if not errors:
        text = table(args.root, accesses)
        path = args.root / TABLE
        if args.write:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            errors.append(f"{TABLE} is not up to date: scripts/check_labels.py --write")
    ctext.finish("check_labels", errors, f"{len(accesses)} ordered accesses, each with its partner")


if __name__ == "__main__":
    main()
