# SPDX-License-Identifier: MIT
"""The lists of mutants, tests/model/mutants/<room>.mut: their format, the sites in src/ that they
stand for, and what each changes in the text. mutants.py checks and runs them.

    mutant LATCH-2-relaxed             one change
      label LATCH-2                    the access under that label ...
      order relaxed                    ... gets this order in its name
      client latch_last_touch          model_<client> must kill it
      args --client latch_two          (optional) what else is on its command line

    mutant eventcount-no-recheck
      file src/sync/eventcount.c
      from while (!filchi_waiter_woken(waiter));
      to   while (false);
      client eventcount_foreign_token

    mutant DEQUE-4-acq-rel
      label DEQUE-4
      order acq_rel
      equivalent Why no client can tell; lines that follow
        with more indentation go on.

`from` stands for one place of the file, white space aside, or for the n-th with `nth n` below it;
a change that moves something has several pairs of `from` and `to`. `file` beside `label` is for a
label that stands in several files, `nth` for one that stands several times in one. A mutant that is
argued equivalent may name a client: that client must let it live."""

import re

import check_labels
import ctext

FOLDER = "tests/model/mutants"
CLIENTS = "tests/model/CMakeLists.txt"
KEYS = {"label", "order", "file", "from", "to", "nth", "client", "args", "equivalent"}

# What is left of an order of the rows when the access is weakened to that of the column.
HALVES = {
    "relaxed": frozenset(),
    "acquire": frozenset("a"),
    "release": frozenset("r"),
    "acq_rel": frozenset("ar"),
    "seq_cst": frozenset("ars"),
}
BY_HALVES = {halves: order for order, halves in HALVES.items()}


class Bad(Exception):
    """A mutant that cannot be made."""


class Mutant:
    def __init__(self, room, name, place):
        self.room, self.name, self.place = room, name, place
        self.label = self.order = self.file = self.client = self.equivalent = None
        self.nth, self.args, self.changes = None, [], []  # changes: [from, to, nth]


class Site:
    """One ordered access of src/, labelled or not."""

    def __init__(self, path, offset, line, call, order):
        self.path, self.offset, self.line = path, offset, line
        self.call, self.order, self.labels = call, order, []

    def fits(self, order):
        """Is this a weaker order that such an access can have?"""
        unfit = {"load": "r", "store": "a"}.get(self.call.split("_")[1], "")
        return HALVES[order] < HALVES[self.order] and unfit not in HALVES[order]

    def next_weaker(self):
        """The orders one step below: acquire and release for acq_rel, else one."""
        fit = [order for order in HALVES if self.fits(order)]
        return [one for one in fit if not any(HALVES[one] < HALVES[other] for other in fit)]

    def __str__(self):
        return f"{self.path}:{self.line}: {self.call}{''.join(f' [{x}]' for x in self.labels)}"


# Reading.


def _blocks(text):
    """(line number, [(key, value)]) of each block; values with their continuation lines."""
    blocks, indent = [], 0
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        depth = len(line) - len(line.lstrip())
        if not bare or bare.startswith("#"):
            continue
        if depth == 0:
            blocks.append((number, [tuple((bare.split(None, 1) + [""])[:2])]))
            indent = None
        elif not blocks:
            raise Bad(f"line {number}: no mutant has begun")
        elif indent is not None and depth > indent:
            key, value = blocks[-1][1][-1]
            blocks[-1][1][-1] = (key, f"{value} {bare}".strip())
        else:
            indent = depth
            blocks[-1][1].append(tuple((bare.split(None, 1) + [""])[:2]))
    return blocks


def _take(mutant, key, value, last):
    if key == "args":
        mutant.args += value.split()
    elif key == "from":
        mutant.changes.append([value, None, None])
    elif key == "to":
        if not mutant.changes or mutant.changes[-1][1] is not None:
            raise Bad("`to` without `from`")
        mutant.changes[-1][1] = value
    elif key == "nth":
        if not value.isdigit() or value == "0":
            raise Bad("nth takes a number")
        if last in ("from", "to"):
            mutant.changes[-1][2] = int(value)
        else:
            mutant.nth = int(value)
    elif getattr(mutant, key) is not None:
        raise Bad(f"two lines `{key}`")
    elif key != "equivalent" and len(value.split()) != 1:
        raise Bad(f"`{key}` takes one word")
    else:
        setattr(mutant, key, value)


def _complete(mutant):
    by_label = mutant.label is not None or mutant.order is not None
    if by_label == bool(mutant.changes):
        raise Bad("needs either `label` and `order`, or `from` and `to`")
    if by_label and (mutant.label is None or mutant.order not in HALVES):
        raise Bad(f"needs `label` and `order` ({', '.join(HALVES)})")
    if mutant.changes and mutant.file is None:
        raise Bad("`from` needs `file`")
    if any(not change[0] or change[1] is None for change in mutant.changes):
        raise Bad("`from` needs a text, and `to`")
    if mutant.client is None and mutant.equivalent is None:
        raise Bad("needs `client`, or `equivalent` with an argument")
    if mutant.equivalent is not None and len(mutant.equivalent.split()) < 8:
        raise Bad("`equivalent` needs an argument in words")


def read(root, errors):
    """All mutants of all lists."""
    mutants, names = [], {}
    for path in sorted((root / FOLDER).glob("*.mut")):
        where = path.relative_to(root)
        try:
            blocks = _blocks(path.read_text(encoding="utf-8"))
        except Bad as bad:
            errors.append(f"{where}: {bad}")
            continue
        for number, lines in blocks:
            (word, name), *rest = lines
            mutant = Mutant(path.stem, name, f"{where}:{number}: {name}")
            try:
                if word != "mutant" or len(name.split()) != 1:
                    raise Bad(f"`{word} {name}`: a block begins with `mutant NAME`")
                if name in names:
                    raise Bad(f"also at {names[name]}")
                last = None
                for key, value in rest:
                    if key not in KEYS:
                        raise Bad(f"what is `{key}`?")
                    _take(mutant, key, value, last)
                    last = key
                _complete(mutant)
            except Bad as bad:
                errors.append(f"{mutant.place}: {bad}")
                continue
            names[name] = f"{where}:{number}"
            mutants.append(mutant)
    return mutants


def clients(root):
    """The names of the programs that CMake makes of the clients."""
    path = root / CLIENTS
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    text = re.sub(r"#[^\n]*", "", text)

    def unroll(match):
        return "\n".join(match.group(3).replace(f"${{{match.group(1)}}}", one) for one in match.group(2).split())

    text = re.sub(r"foreach\((\w+)\s+([^)]*)\)(.*?)endforeach\(\)", unroll, text, flags=re.DOTALL)
    return set(re.findall(r"filch_model_test\(\s*NAME\s+(\w+)", text))


# The text.


class Tree:
    """The sources, and the ordered accesses in them."""

    def __init__(self, root):
        self.root, self.texts, self.sites = root, {}, []
        self.names = check_labels.accessors(root)
        for path in ctext.files(root, ["src", "include/filch"]):
            text = (root / path).read_text(encoding="utf-8")
            self.texts[str(path)] = text
            if str(path) != check_labels.ATOMIC_H:
                self._add_sites(path, text)

    def _add_sites(self, path, text):
        file = check_labels.File(path, text, self.names)
        found = {}
        for offset, name in file.calls:
            if self.names[name] != "relaxed":
                line = file.source.line_of(offset)
                found[offset] = Site(str(path), offset, line, name, self.names[name])
        for access in check_labels.check_file(file, self.names, [])[0]:
            found[access.offset].labels.append(access.label)
        self.sites += [found[offset] for offset in sorted(found)]

    def site_of(self, mutant):
        sites = [s for s in self.sites if mutant.label in s.labels and mutant.file in (None, s.path)]
        wanted = mutant.nth or 1
        if len(sites) < wanted or (mutant.nth is None and len(sites) > 1):
            raise Bad(f"{mutant.label} labels {len(sites)} accesses{' there' if mutant.file else ''}")
        return sites[wanted - 1]

    def accessor(self, name, order, new_name):
        """The text of the accessor `name` with a weaker order."""
        match = re.search(
            rf"static inline [^;{{}}]*?\b{name}\s*\([^{{}}]*\{{[^{{}}]*\}}", self.texts[check_labels.ATOMIC_H]
        )
        if match is None:
            raise Bad(f"{name} is not found in {check_labels.ATOMIC_H}")

        def weaken(word):
            return "__ATOMIC_" + BY_HALVES[HALVES[word.group(1).lower()] & HALVES[order]].upper()

        text = re.sub(r"__ATOMIC_(\w+)", weaken, match.group().replace(name, new_name))
        return " ".join(text.split())

    def _weaken(self, mutant):
        site = self.site_of(mutant)
        if not site.fits(mutant.order):
            raise Bad(f"{mutant.order} is not weaker than {site.call}")
        name = site.call.replace(f"_{site.order}_", f"_{mutant.order}_")
        text = self.texts[site.path]
        text = text[: site.offset] + name + text[site.offset + len(site.call) :]
        if name not in self.names:
            made = self.accessor(site.call, mutant.order, name)
            last = list(re.finditer(r"^#include[^\n]*\n", text, re.MULTILINE))[-1].end()
            line = text[:last].count("\n") + 1
            text = f"{text[:last]}{made}\n#line {line}\n{text[last:]}"
        return site.path, text

    def _replace(self, mutant):
        text = self.texts.get(mutant.file)
        if text is None:
            raise Bad(f"there is no {mutant.file}")
        spans = []
        for old, new, nth in mutant.changes:
            pattern = r"\s+".join(map(re.escape, old.split()))
            found = list(re.finditer(pattern, text))
            if len(found) < (nth or 1) or (nth is None and len(found) > 1):
                raise Bad(f"`{old}` stands {len(found)} times in {mutant.file}")
            match = found[(nth or 1) - 1]
            spans.append((match.start(), match.end(), new))
        for start, end, new in sorted(spans, reverse=True):
            text = text[:start] + new + text[end:]
        return mutant.file, text

    def unproved(self, mutants):
        """The accesses for which the next weaker order is not tried, as complaints. To show that a
        seq_cst is needed it is not enough that relaxed fails. If a still weaker order is argued
        equivalent, so is that one."""
        tried = {site: [] for site in self.sites}
        for mutant in mutants:
            if mutant.label is not None:
                tried[self.site_of(mutant)].append(mutant)
        for site, own in tried.items():
            missing = [
                order
                for order in site.next_weaker()
                if not any(
                    m.order == order or m.equivalent and HALVES[m.order] < HALVES[order] for m in own
                )
            ]
            if missing:
                yield f"{site}: no mutant" + (f" makes it {' or '.join(missing)}" if own else "")

    def mutate(self, mutant):
        """(path, its new text)"""
        path, text = self._weaken(mutant) if mutant.label else self._replace(mutant)
        if text == self.texts[path]:
            raise Bad("it changes nothing")
        return path, text
