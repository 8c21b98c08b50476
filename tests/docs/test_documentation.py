"""Everything shown is run: the README's code blocks, the examples, and the links between documents."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(os.environ.get("KERF_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("KERF_BUILD", ROOT / "build" / "release"))
README = (ROOT / "README.md").read_text()


def blocks(language, text=README):
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def shell_commands(text=README):
    """The lines of the shell blocks that call kerf, without their comments."""
    lines = [line for block in blocks("sh", text) for line in block.splitlines()]
    return [line.split("  #")[0].strip() for line in lines if line.startswith("kerf ")]


def run_in(folder, commands):
    path = f"{BUILD / 'bin'}:{os.environ['PATH']}"
    for command in commands:
        done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, env={**os.environ, "PATH": path}, timeout=200)
        assert done.returncode == 0, f"{command}\n{done.stderr}"


def test_readme_names_the_two_commands():
    assert "make demo" in README and "make test" in README


def test_readme_shell_blocks_run(tmp_path):
    (tmp_path / "data").symlink_to(ROOT / "data")
    commands = shell_commands()
    assert len(commands) >= 4
    run_in(tmp_path, commands)


@pytest.mark.parametrize("document", sorted(p.name for p in (ROOT / "docs").glob("*.md")))
def test_shell_blocks_of_the_pages_run(document, tmp_path):
    """In a folder with the shipped data sets in it, and under data/ too."""
    (tmp_path / "data").symlink_to(ROOT / "data")
    for file in (ROOT / "data").iterdir():
        (tmp_path / file.name).symlink_to(file)
    run_in(tmp_path, shell_commands((ROOT / "docs" / document).read_text()))


def test_readme_cpp_block_is_the_first_example():
    (code,) = blocks("cpp")
    assert code.strip() in (ROOT / "examples" / "01_fit_and_predict.cpp").read_text()


@pytest.mark.skipif(not (BUILD / "python" / "kerf").exists(), reason="built without the Python package")
def test_readme_python_block_runs(tmp_path):
    (code,) = blocks("python")
    (tmp_path / "data").symlink_to(ROOT / "data")
    done = subprocess.run(["/usr/bin/python3", "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=200,
                          env={**os.environ, "PYTHONPATH": str(BUILD / "python")})
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[-1]) > 0.97


@pytest.mark.parametrize("example", sorted(p.stem for p in (ROOT / "examples").glob("*.cpp")))
def test_examples_run(example, tmp_path):
    done = subprocess.run([str(BUILD / "bin" / example), str(ROOT / "data")], cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize("document", sorted(str(p.relative_to(ROOT)) for p in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("kerf/*.md")]))
def test_links_lead_somewhere(document):
    path = ROOT / document
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text()):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{document} links to {target}"


def test_every_map_and_kernel_is_documented():
    text = (ROOT / "docs" / "guide.md").read_text()
    for listing in ("maps", "kernels"):
        done = subprocess.run([str(BUILD / "bin" / "kerf"), listing], capture_output=True, text=True)
        for name in re.findall(r"^(\S+)", done.stdout, re.M):
            assert f"`{name}`" in text, f"docs/guide.md does not name `{name}`"


def test_no_package_is_missing_from_the_install_script():
    assert shutil.which("sh") and (ROOT / "tools" / "install-deps").stat().st_mode & 0o111


def test_pages_agree_about_maps_for_sparse_rows():
    """The guide recommended ntk-sketch for sparse rows, and docs/ntk.md forbade it."""
    for page in ("guide", "ntk"):
        (line,) = [line for line in (ROOT / "docs" / f"{page}.md").read_text().splitlines() if line.startswith("| `ntk-sketch` |") and "sparse" in line]
        assert "not for sparse rows" in line.lower()


def test_published_figures_of_gradients_stand_at_their_own_sizes():
    """GradRF's were shown at the dimensions of CNTKSketch."""
    text = (ROOT / "experiments" / "cntk_accuracy.py").read_text()
    assert {size for size in re.findall(r'\("grad", (\d+)\)', text)} == {"9328", "17040", "42816"}
