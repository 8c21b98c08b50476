"""Writes docs/results/index.md: every table and figure that experiments/ reproduce, done or not.

    /usr/bin/python3 experiments/make_index.py [--out docs/results]

tools/reproduce calls it after each experiment.
"""
import argparse
import ast
import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent


def experiments():
    """Name and first line of the description of each experiment."""
    for path in sorted((ROOT / "experiments").glob("*.py")):
        text = path.read_text()
        if re.search(r"^from harness import.*Experiment", text, re.M):
            yield path.stem, (ast.get_docstring(ast.parse(text)) or "").splitlines()[0].replace("|", "\\|")


def entry(out, name, quick):
    file = out / f"{name}{'-quick' if quick else ''}.json"
    if not file.exists():
        return ""
    result = json.loads(file.read_text())
    figure = f", [figure]({file.stem}.svg)" if (out / f"{file.stem}.svg").exists() else ""
    return f"[{result['date']}]({file.stem}.md){figure}"


def write(out):
    lines = ["# Tables and figures", "",
             "Made by `make reproduce NAME=... DATA=DIR` (`QUICK=1`: a size of a minute or two; `NAME=all` does all of them quickly). Each page names its command, its date",
             "and, where a paper has them, the published numbers beside ours. What the full sizes say: [reproduction.md](../reproduction.md).", "",
             "| NAME | what | full size | quick |", "|---|---|---|---|"]
    for name, what in experiments():
        lines.append(f"| `{name}` | {what} | {entry(out, name, False)} | {entry(out, name, True)} |")
    (out / "index.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs" / "results")
    write(parser.parse_args().out)
