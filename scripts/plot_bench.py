#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plot_bench.py RESULT.json PREFIX [--only a,b,c]: from what `filch bench --json` or `make perf`
printed, PREFIX-speedup.svg (how many times as fast as serial code, a panel a workload),
PREFIX-sweep.svg (time per element over the length of a task, if the sweep was measured), and PREFIX.md,
the figures as tables. --only: leave out other contestants."""

import argparse
import json
import math
import pathlib
import statistics
import sys
from xml.sax.saxutils import escape

INK, FAINT, GRID = "#222222", "#666666", "#dddddd"
FILCH, SERIAL, DESIGN, PEER = "#c2410c", "#111111", "#7c9cc4", "#5aa17f"
LINES = ["#2563a8", "#3a8f5c", "#8a5bb0", "#b8860b", "#cc4c8a", "#3b9aa8", "#7a6a53", "#94a03a"]
DASHES = ["", "6 3", "2 3"]
COLUMNS, PANEL, LABEL, ROW = 3, 330, 112, 15
DESIGNS = {"stealing", "shared-queue", "lock-free-queue", "private-queues", "overflow-queue",
           "locked-deques", "static-partition", "master-worker"}


class Svg:
    """Shapes are collected, the height is known at the end."""

    def __init__(self, width):
        self.width, self.parts = width, []

    def line(self, x1, y1, x2, y2, color, width=1.0, dash=""):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                          f'stroke="{color}" stroke-width="{width}" stroke-dasharray="{dash}"/>')

    def rect(self, x, y, width, height, color):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
                          f'fill="{color}"/>')

    def text(self, x, y, text, size=11, color=INK, anchor="start", weight="normal"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{color}" '
                          f'text-anchor="{anchor}" font-weight="{weight}">{escape(text)}</text>')

    def path(self, points, color, width, dash):
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{way}" fill="none" stroke="{color}" '
                          f'stroke-width="{width}" stroke-dasharray="{dash}"/>')

    def dot(self, x, y, color, radius=2.5, fill=None):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill or color}" '
                          f'stroke="{color}" stroke-width="1.5"/>')

    def write(self, path, height):
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{height:.0f}" '
                f'viewBox="0 0 {self.width} {height:.0f}" font-family="Helvetica, Arial, sans-serif">\n'
                f'<rect width="100%" height="100%" fill="#ffffff"/>\n')
        path.write_text(head + "\n".join(self.parts) + "\n</svg>\n", encoding="utf-8")


def find_grid(data):
    """The grid's result in what `filch bench` or `make perf` printed."""
    for entry in data if isinstance(data, list) else [data]:
        if entry.get("benchmark") == "grid":
            return entry
    sys.exit("plot_bench: no result of `filch bench` in there")


def title_of(row):
    return f"{row['workload']} {row['args']}"


def cells_of(row, only):
    return [c for c in row["results"] if c["state"] == "ran" and (not only or c["contestant"] in only)]


def describe(grid):
    machine, compiler = grid["machine"], grid["compiler"]
    return (f"filch {grid['filch']}, {grid['workers']} workers on {machine['cpu_model']} "
            f"({machine['cpus_allowed']} cpus), {machine['kernel']}, {compiler['name']} "
            f"{compiler['version']}, {compiler['flags']}")


def color_of(name):
    if name == "filch":
        return FILCH
    return SERIAL if name.startswith("serial") else DESIGN if name in DESIGNS else PEER


def figure(value):
    if value < 0.1:
        return f"{value:.1g}" if value < 0.01 else f"{value:.2g}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


# ---- speed-up ----


def ticks_between(low, high):
    steps = (1,) if high / low > 40 else (1, 2, 5)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [s * 10.0**d for d in decades for s in steps if low <= s * 10.0**d <= high]


def draw_panel(svg, x, y, row, cells):
    """Bars from 1, on a logarithmic scale: to the right is faster than serial."""
    left, right = x + LABEL, x + PANEL - 46
    bottom = y + 22 + ROW * len(cells)
    low = min([0.6] + [c["speed_up"] for c in cells]) / 1.1
    high = max([1.6] + [c["speed_up"] for c in cells]) * 1.1

    def place(value):
        return left + math.log(value / low) / math.log(high / low) * (right - left)

    svg.text(x, y + 10, title_of(row), size=13, weight="bold")
    for tick in ticks_between(low, high):
        svg.line(place(tick), y + 18, place(tick), bottom, INK if tick == 1 else GRID)
        svg.text(place(tick), bottom + 11, f"{tick:g}", size=9, color=FAINT, anchor="middle")
    for i, cell in enumerate(cells):
        name, value = cell["contestant"], cell["speed_up"]
        middle = y + 22 + ROW * i + ROW / 2
        own = name == "filch"
        start, end = sorted((place(1), place(value)))
        svg.rect(start, middle - 5, max(end - start, 1.5), 10, color_of(name))
        svg.text(left - 8, middle + 4, name, anchor="end", weight="bold" if own else "normal")
        svg.text(right + 8, middle + 4, figure(value), color=INK if own else FAINT,
                 weight="bold" if own else "normal")


def draw_speedup(grid, only, path):
    rows = [r for r in grid["workloads"] if r["workload"] != "sweep" and cells_of(r, only)]
    if not rows:
        return
    svg = Svg(COLUMNS * PANEL + 40)
    svg.text(20, 28, "How many times as fast as serial code", size=17, weight="bold")
    svg.text(20, 46, "Bars begin at 1 and end to the right of it if faster, to the left if slower. Each "
             "panel has a logarithmic scale of its own.", color=FAINT)
    y = 66
    for first in range(0, len(rows), COLUMNS):
        band = rows[first:first + COLUMNS]
        drawn = [[c for c in cells_of(row, only) if c["speed_up"]] for row in band]
        for column, (row, cells) in enumerate(zip(band, drawn)):
            draw_panel(svg, 20 + column * PANEL, y, row, cells)
        y += 22 + ROW * max(len(cells) for cells in drawn) + 32
    draw_foot(svg, y, grid)
    svg.write(path, y + 20)


def draw_foot(svg, y, grid):
    svg.text(20, y + 4, describe(grid), size=10, color=FAINT)


# ---- sweep ----


def sweep_series(grid, only):
    """{contestant: [(length of a task in ns of serial work, ns per element)]} in order of length."""
    rows = [(int(row["args"].split()[0]), int(row["args"].split()[1]), row)
            for row in grid["workloads"] if row["workload"] == "sweep"]
    serial = [c["wall_ns"]["median"] / elements for _, elements, row in rows for c in row["results"]
              if c["contestant"] == "serial" and c["state"] == "ran"]
    series = {}
    for grain, elements, row in rows if serial else []:
        for cell in cells_of(row, only):
            point = (grain * statistics.median(serial), cell["wall_ns"]["median"] / elements)
            series.setdefault(cell["contestant"], []).append(point)
    return {name: sorted(points) for name, points in series.items()}


def height_at(points, x):
    """The line through the points at x, straight on logarithmic scales; None outside."""
    for (x1, y1), (x2, y2) in zip(points, points[1:]):
        if x1 <= x <= x2:
            share = (math.log(x) - math.log(x1)) / (math.log(x2) - math.log(x1))
            return math.exp(math.log(y1) + share * (math.log(y2) - math.log(y1)))
    return None


def crossing(ours, theirs):
    """Where our line goes below theirs and stays there: (x, y); None if it never does."""
    found = None
    for (x1, a1), (x2, a2) in zip(ours, ours[1:]):
        b1, b2 = height_at(theirs, x1), height_at(theirs, x2)
        if b1 is None or b2 is None:
            continue
        gap1, gap2 = math.log(a1 / b1), math.log(a2 / b2)
        if gap1 > 0 >= gap2:
            share = gap1 / (gap1 - gap2)
            x = math.exp(math.log(x1) + share * (math.log(x2) - math.log(x1)))
            found = (x, height_at(ours, x))
        elif gap2 > 0:
            found = None
    return found


def spread_labels(wanted, least):
    """Heights near the wanted ones, at least so far apart, in the same order."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    placed = [float(w) for w in wanted]
    for _ in range(200):
        for lower, upper in zip(order, order[1:]):
            missing = least - (placed[upper] - placed[lower])
            if missing > 0:
                placed[lower] -= missing / 2
                placed[upper] += missing / 2
    return placed


def length_text(ns):
    for limit, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= limit:
            return f"{ns / limit:.3g} {unit}"
    return f"{ns:.3g} ns"


def comparisons(series):
    """Sentences about where Filch's line and the others' cross, and the points."""
    words, points = [], []
    for other in ("serial", "shared-queue", "static-partition"):
        if "filch" not in series or other not in series:
            continue
        cross = crossing(series["filch"], series[other])
        below = all(a[1] <= b[1] for a, b in zip(series["filch"], series[other]))
        if cross:
            points.append(cross)
            words.append(f"Filch is ahead of {other} from tasks of {length_text(cross[0])} on")
        else:
            words.append(f"Filch is ahead of {other} at every length" if below else
                         f"Filch and {other} do not part for good")
    return words, points


class Plane:
    """Two logarithmic axes."""

    def __init__(self, series, box):
        xs = [x for points in series.values() for x, _ in points]
        ys = [y for points in series.values() for _, y in points]
        self.box = box
        self.x, self.y = (min(xs) / 1.3, max(xs) * 1.3), (min(ys) / 1.3, max(ys) * 1.3)

    def at(self, x, y):
        left, top, right, bottom = self.box
        across = math.log(x / self.x[0]) / math.log(self.x[1] / self.x[0])
        up = math.log(y / self.y[0]) / math.log(self.y[1] / self.y[0])
        return left + across * (right - left), bottom - up * (bottom - top)

    def draw(self, svg):
        left, top, right, bottom = self.box
        for value in ticks_between(*self.x):
            x = self.at(value, self.y[0])[0]
            svg.line(x, top, x, bottom, GRID)
            svg.text(x, bottom + 16, length_text(value), anchor="middle", color=FAINT)
        for value in ticks_between(*self.y):
            y = self.at(self.x[0], value)[1]
            svg.line(left, y, right, y, GRID)
            svg.text(left - 7, y + 4, length_text(value), anchor="end", color=FAINT)
        svg.line(left, bottom, right, bottom, INK)
        svg.line(left, top, left, bottom, INK)


def line_style(name, number):
    if name in ("filch", "serial"):
        return color_of(name), 2.8 if name == "filch" else 2.0, "" if name == "filch" else "7 4"
    return LINES[number % len(LINES)], 1.5, DASHES[number // len(LINES) % len(DASHES)]


def draw_sweep(grid, only, path):
    series = {n: p for n, p in sweep_series(grid, only).items() if len(p) > 1}
    if "serial" not in series:
        return
    svg = Svg(900)
    svg.text(20, 28, "What a task costs: a loop in pieces of different length", size=17, weight="bold")
    svg.text(20, 46, "Time per element (vertical) over the length of a piece (horizontal). Rings: Filch "
             "gets ahead of serial code, a shared queue, a static partition.", color=FAINT)
    plane = Plane(series, (78, 66, 720, 490))
    plane.draw(svg)
    names = sorted(series, key=lambda n: (n == "filch", n == "serial", n))
    ends = [plane.at(*series[name][-1]) for name in names]
    heights = spread_labels([y for _, y in ends], 14)
    for number, name in enumerate(names):
        color, width, dash = line_style(name, number)
        points = [plane.at(*point) for point in series[name]]
        svg.path(points, color, width, dash)
        for x, y in points:
            svg.dot(x, y, color, radius=width)
        svg.line(ends[number][0] + 5, ends[number][1], 740, heights[number], color, 0.7)
        svg.text(744, heights[number] + 4, name, color=color,
                 weight="bold" if name == "filch" else "normal")
    words, crosses = comparisons(series)
    for point in crosses:
        svg.dot(*plane.at(*point), INK, radius=6, fill="none")
    y = 534
    for sentence in words:
        svg.text(78, y, sentence + ".")
        y += 16
    draw_foot(svg, y + 6, grid)
    svg.write(path, y + 22)


# ---- tables ----


def write_tables(grid, only, path):
    skipped = [f"{c['name']}: {c['skipped']}" for c in grid["contestants"] if "skipped" in c]
    versions = [f"{c['name']} ({c['version']})" for c in grid["contestants"] if c.get("version")]
    text = [f"Speed-up over serial code (CPU time compared with it). {describe(grid)}.", ""]
    names = [c["name"] for c in grid["contestants"]
             if "skipped" not in c and (not only or c["name"] in only)]
    rows = grid["workloads"]
    text.append("| workload | serial | " + " | ".join(n for n in names if n != "serial") + " |")
    text.append("|---|" + "---:|" * len(names))
    for row in rows:
        cells = {c["contestant"]: c for c in row["results"]}
        serial = cells["serial"]
        line = [title_of(row), length_text(serial["wall_ns"]["median"]) if serial["state"] == "ran" else "-"]
        for name in names:
            cell = cells.get(name, {"state": "none"})
            if name == "serial":
                continue
            line.append(f"{figure(cell['speed_up'])} ({figure(cell['cpu_ratio'])})"
                        if cell["state"] == "ran" and cell["speed_up"] else "-")
        text.append("| " + " | ".join(line) + " |")
    text += [""] + [f"- {title_of(row)}: {row['verdict']}" for row in rows if row["verdict"]]
    text += [f"- {sentence}" for sentence in comparisons(sweep_series(grid, only))[0]]
    text += ["", "Contestants: " + "; ".join(versions) + "."]
    if skipped:
        text += ["", "Skipped: " + "; ".join(skipped) + "."]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result", type=pathlib.Path)
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("--only", type=lambda text: set(text.split(",")) | {"serial"})
    args = parser.parse_args()
    grid = find_grid(json.loads(args.result.read_text(encoding="utf-8")))
    prefix = args.prefix
    draw_speedup(grid, args.only, prefix.with_name(prefix.name + "-speedup.svg"))
    draw_sweep(grid, args.only, prefix.with_name(prefix.name + "-sweep.svg"))
    write_tables(grid, args.only, prefix.with_name(prefix.name + ".md"))


if __name__ == "__main__":
    main()
