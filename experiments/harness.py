"""What every experiment shares: its command line, runs of the program, and results as JSON, table and plot.

An experiment is one file, experiments/NAME.py, of this shape:

    from harness import Experiment

    def run(experiment):
        for features in [256, 1024] if experiment.quick else [256, 1024, 4096]:
            report = experiment.kerf("fit", experiment.data / "mnist" / "...", "--features", features)
            experiment.row(features=features, seconds=report["seconds"]["total"], published=None)
        experiment.plot(x="features", y="seconds", log_x=True, log_y=True)

    if __name__ == "__main__":
        Experiment(__file__, "Title of the table", run)

    /usr/bin/python3 experiments/NAME.py --data DIR [--quick] [--out docs/results] [--kerf build/release/bin/kerf]

It writes OUT/NAME.json (rows, date, command), OUT/NAME.md (the table) and, when plot() was called, OUT/NAME.svg,
all at the end; until then the rows so far stand in OUT/NAME.part.json and .md, so that a page is never half a table.
With --quick it runs at a size that takes a minute or two and writes OUT/NAME-quick.*, so that full results stay.
`make reproduce NAME=... DATA=... [OPTIONS=...]` calls it; NAME=all runs all of them with --quick.
"""
import argparse
import datetime
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Experiment:
    """Runs `run(self)` and writes what it collected through row(), note() and plot()."""

    def __init__(self, file, title, run, options=()):
        """options: extra (flag, keywords) pairs for argparse; their values are attributes of `self.arguments`."""
        self.file, self.title = pathlib.Path(file), title
        parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--data", type=pathlib.Path, required=True, help="folder of the data sets")
        parser.add_argument("--quick", action="store_true", help="small sizes: a minute or two")
        parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs" / "results")
        parser.add_argument("--kerf", default=str(ROOT / "build" / "release" / "bin" / "kerf"), help="the program")
        for flag, keywords in options:
            parser.add_argument(flag, **keywords)
        self.arguments = parser.parse_args()
        self.data, self.quick = self.arguments.data, self.arguments.quick
        self.rows, self.notes, self.plots = [], [], []
        self._scratch = tempfile.TemporaryDirectory()
        self.scratch = pathlib.Path(self._scratch.name)
        run(self)
        self.write()

    def kerf(self, command, *arguments):
        """`kerf COMMAND ... --json` as a dictionary; `fit` writes its model into the scratch folder unless told where."""
        line = [self.arguments.kerf, command, *map(str, arguments), "--json"]
        if command == "fit" and "-o" not in line:
            line += ["-o", str(self.scratch / "model.kerf")]
        done = subprocess.run(line, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{shlex.join(line)}\n{done.stderr or done.stdout}")
        return json.loads(done.stdout)

    def row(self, **values):
        self.rows.append(values)
        self._write_tables(".part")  # a run that is stopped keeps what it has
        print("  ".join(f"{name}={_show(value)}" for name, value in values.items()), file=sys.stderr, flush=True)

    def rows_before(self):
        """The rows of the page that this run replaces."""
        page = self.arguments.out / f"{self._name}.json"
        return json.loads(page.read_text())["rows"] if page.exists() else []

    def note(self, text):
        """A sentence under the table."""
        self.notes.append(text)

    def plot(self, x, y, group=None, **style):
        """A line per value of column `group`: column y against column x.  style: log_x, log_y, title, x_label, y_label,
        where (column: value of the rows to show)."""
        self.plots.append({"x": x, "y": y, "group": group, **style})

    @property
    def _name(self):
        return self.file.stem + ("-quick" if self.quick else "")

    @property
    def _command(self):
        """What makes the page again: with the options that are the experiment's own."""
        own = [word for word, before in zip(sys.argv[1:], [None, *sys.argv[1:]])
               if word not in ("--quick", "--data", "--out", "--kerf") and before not in ("--data", "--out", "--kerf")]
        options = f" OPTIONS={shlex.quote(shlex.join(own))}" if own else ""
        return f"make reproduce NAME={self.file.stem} DATA=DIR" + (" QUICK=1" if self.quick else "") + options

    def _write_tables(self, part=""):
        out, name, command = self.arguments.out, self._name, self._command
        out.mkdir(parents=True, exist_ok=True)
        result = {"name": name, "title": self.title, "date": datetime.date.today().isoformat(), "command": command,
                  "cores": os.cpu_count(), "rows": self.rows, "notes": self.notes}
        (out / f"{name}{part}.json").write_text(json.dumps(result, indent=1) + "\n")
        picture = [f"![{self.title}]({name}.svg)", ""] if self.plots else []
        (out / f"{name}{part}.md").write_text("\n".join(
            [f"# {self.title}", "", f"{result['date']}, {result['cores']} cores: `{command}`", "", *_table(self.rows), "", *self.notes, "", *picture]).rstrip() + "\n")

    def write(self):
        self._write_tables()
        for kind in ("json", "md"):
            (self.arguments.out / f"{self._name}.part.{kind}").unlink(missing_ok=True)
        if self.plots:
            _draw(self.arguments.out / f"{self._name}.svg", self.rows, self.plots)
        print(f"wrote {self._name}.json, {self._name}.md in {self.arguments.out}", file=sys.stderr)


def _show(value):
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _table(rows):
    columns = list(dict.fromkeys(column for row in rows for column in row))
    yield "| " + " | ".join(column.replace("_", " ") for column in columns) + " |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield "| " + " | ".join(_show(row.get(column)) for column in columns) + " |"


def _draw(path, rows, plots):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10, "svg.hashsalt": "kerf",
                                "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.25})
    from matplotlib import pyplot
    across = {4: 2, 8: 4}.get(len(plots), min(3, len(plots)))
    down = -(-len(plots) // across)
    figure, axes = pyplot.subplots(down, across, figsize=(4.5 * across + 1.2, 3.6 * down), squeeze=False, layout="constrained")
    legend = {}  # one for all panels, where it hides no line
    for axis in axes.flat[len(plots):]:
        axis.set_visible(False)
    for axis, plot in zip(axes.flat, plots):
        groups = list(dict.fromkeys(row.get(plot["group"]) for row in rows)) if plot["group"] else [None]
        for group in groups:
            points = [(row[plot["x"]], row[plot["y"]]) for row in rows
                      if (plot["group"] is None or row.get(plot["group"]) == group) and row.get(plot["x"]) is not None and row.get(plot["y"]) is not None
                      and all(row.get(column) == value for column, value in plot.get("where", {}).items())]
            if points:
                axis.plot(*zip(*sorted(points)), marker="o", markersize=4, label=None if group is None else str(group))
        axis.set(xlabel=plot.get("x_label", plot["x"].replace("_", " ")), ylabel=plot.get("y_label", plot["y"].replace("_", " ")), title=plot.get("title", ""))
        if plot.get("log_x"):
            axis.set_xscale("log", base=2)
        if plot.get("log_y"):
            axis.set_yscale("log")
        for line, label in zip(*axis.get_legend_handles_labels()):
            legend.setdefault(label, line)
    if legend:
        axes[0][-1].legend(legend.values(), legend.keys(), frameon=False, loc="upper left", bbox_to_anchor=(1.02, 1))
    figure.savefig(path, metadata={"Date": None})
