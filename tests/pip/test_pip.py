"""`pip install` of the source distribution in a fresh virtual environment, with PyPI's newest numpy, scikit-learn and pybind11, then the whole test suite
of the package there (KERF_PIP_TESTS: these files of it only).  Where PyPI cannot be reached it is skipped with a word, or fails if KERF_MUST is set."""
import os
import pathlib
import subprocess
import sys
import tarfile
import venv

import pytest

ROOT = pathlib.Path(os.environ.get("KERF_SOURCE", pathlib.Path(__file__).resolve().parents[2]))


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=3600, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A virtual environment that can reach PyPI."""
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    reach = subprocess.run([python, "-m", "pip", "install", "-q", "--retries", "0", "--timeout", "10", "build"], capture_output=True, text=True)
    if reach.returncode != 0:
        words = "PyPI cannot be reached: " + reach.stderr.strip().splitlines()[-1]
        (pytest.fail if os.environ.get("KERF_MUST") else pytest.skip)(words)
    return python


def test_source_distribution_installs_and_passes_its_tests(fresh, tmp_path):
    run(fresh, "-m", "build", "--sdist", "--outdir", tmp_path, ROOT)
    (archive,) = tmp_path.glob("kerf-*.tar.gz")
    names = tarfile.open(archive).getnames()
    assert any(name.endswith("kerf/kerf.h") for name in names) and any(name.endswith("python/kerf/py.typed") for name in names)
    assert not any("/build/" in name or name.endswith(".so") for name in names)
    run(fresh, "-m", "pip", "install", "-q", f"{archive}[test]", "mypy")
    files = run(fresh, "-c", "import kerf, pathlib; print(*sorted(p.name for p in pathlib.Path(kerf.__file__).parent.iterdir()))", cwd=tmp_path).split()
    assert {"__init__.py", "__init__.pyi", "kernels.pyi", "py.typed"} <= set(files)
    tests = [ROOT / "python" / "tests" / name for name in os.environ.get("KERF_PIP_TESTS", "").split()] or [ROOT / "python" / "tests"]
    environment = {**os.environ, "PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
    print(run(fresh, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, cwd=tmp_path, env=environment))


def test_wheels_are_configured_for_all_pythons():
    text = (ROOT / "pyproject.toml").read_text()
    assert all(f"cp{v}-*" in text for v in ("39", "310", "311", "312", "313"))
    assert sys.version_info >= (3, 9)
