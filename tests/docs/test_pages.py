"""The shell blocks of these pages run, line by line, in one folder with the data sets that ship."""
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(os.environ.get("KERF_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("KERF_BUILD", ROOT / "build" / "release"))


@pytest.mark.parametrize("page", ["learning-auto", "uncertainty", "select"])
def test_shell_blocks_run(page, tmp_path):
    (tmp_path / "data").symlink_to(ROOT / "data")
    text = (ROOT / "docs" / f"{page}.md").read_text()
    lines = [line for block in re.findall(r"```sh\n(.*?)```", text, re.S) for line in block.splitlines()]
    commands = [line.split("  #")[0].strip() for line in lines if line.strip() and not line.startswith("#")]
    assert commands
    path = f"{BUILD / 'bin'}:{os.environ['PATH']}"
    for command in commands:
        done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "PATH": path}, timeout=200)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
