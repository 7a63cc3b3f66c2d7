#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plot_sizes.py RESULT.json... PREFIX: from what `filch demo --sizes ... --json` printed, one file a quota,
PREFIX.svg (a column a quota: work done, lateness, throttled periods over the size of the pool) and
PREFIX.md, the figures as a table."""

import argparse
import json
import pathlib

from plot_bench import DESIGN, FAINT, FILCH, GRID, INK, Svg, figure

COLUMN, LEFT, ROW, BAR, NAME = 390, 20, 24, 190, 84
PANELS = [
    ("Tasks a second", lambda s: s["tasks_per_s"], lambda v: f"{v:,.0f}"),
    ("Lateness of a thread beside the pool, 99 % of its requests, ms",
     lambda s: s["p99_ns"] / 1e6, figure),
    ("Periods in which the group was stopped, %",
     lambda s: 100 * s["throttled"] / s["periods"] if s["periods"] else 0, lambda v: f"{v:.0f}"),
]


def quota_of(result):
    return f"quota {result['quota']:g}" if result["quota"] else "no quota"


def draw_panel(svg, x, y, result, panel, high):
    title, value_of, text_of = panel
    svg.text(x, y + 11, title, size=11, color=FAINT)
    for i, size in enumerate(result["sizes"]):
        top = y + 20 + ROW * i
        value = value_of(size)
        default = size["workers"] == result["default"]
        weight = "bold" if default else "normal"
        plural = "" if size["workers"] == 1 else "s"
        svg.text(x + NAME - 8, top + 12, f"{size['workers']} worker{plural}", anchor="end", weight=weight)
        svg.rect(x + NAME, top, max(1.0, BAR * value / high), ROW - 8, FILCH if default else DESIGN)
        svg.text(x + NAME + max(1.0, BAR * value / high) + 6, top + 12, text_of(value), weight=weight,
                 color=INK if default else FAINT)
    svg.line(x + NAME, y + 16, x + NAME, y + 20 + ROW * len(result["sizes"]) - 4, INK)


def draw(results, path):
    svg = Svg(LEFT * 2 + COLUMN * len(results))
    svg.text(LEFT, 28, "Pools of different sizes under a CPU quota, at full load", size=17, weight="bold")
    svg.text(LEFT, 46, "The default size is the red one. Each kind of bar has one scale for all quotas.",
             color=FAINT)
    height = 20 + ROW * max(len(r["sizes"]) for r in results) + 22
    for column, result in enumerate(results):
        x = LEFT + column * COLUMN
        svg.text(x, 76, f"{quota_of(result)}, {result['cpus_allowed']} CPUs", size=14, weight="bold")
        for row, panel in enumerate(PANELS):
            high = max(panel[1](s) for r in results for s in r["sizes"]) or 1
            draw_panel(svg, x, 92 + row * height, result, panel, high)
        if column:
            svg.line(x - 16, 66, x - 16, 92 + len(PANELS) * height - 20, GRID)
    y = 92 + len(PANELS) * height
    svg.text(LEFT, y, f"filch {results[0]['version']} demo --sizes; median of {results[0]['repeats']} rounds of "
             "a second, sizes in turns", size=10, color=FAINT)
    svg.write(path, y + 16)


def table(results):
    yield "| quota | workers | tasks/s | of best | CPUs used | p50 late | p99 late | stopped in |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    for result in results:
        for s in result["sizes"]:
            mark = " (default)" if s["workers"] == result["default"] else ""
            stopped = f"{s['throttled']} of {s['periods']} periods" if s["periods"] else "-"
            yield (f"| {result['quota'] or '-'} | {s['workers']}{mark} | {s['tasks_per_s']:,.0f} | "
                   f"{100 * s['part_of_best']:.0f} % | {s['cpus_used']:.2f} | {s['p50_ns'] / 1e6:.2f} ms | "
                   f"{s['p99_ns'] / 1e6:.1f} ms | {stopped} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result", type=pathlib.Path, nargs="+")
    parser.add_argument("prefix", type=pathlib.Path)
    args = parser.parse_args()
    results = [json.loads(path.read_text(encoding="utf-8")) for path in args.result]
    draw(results, args.prefix.with_name(args.prefix.name + ".svg"))
    text = "\n".join(table(results)) + "\n"
    args.prefix.with_name(args.prefix.name + ".md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
