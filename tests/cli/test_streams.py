"""Standard streams that are closed or full: exit codes stay true, and nothing that was done is lost."""
import subprocess

import pytest

from conftest import DATA, PROGRAM

IRIS = DATA / "iris_train.csv"


@pytest.fixture
def shell(tmp_path):
    def run(command):
        return subprocess.run(["bash", "-c", command.replace("kerf ", f"'{PROGRAM}' ", 1)], cwd=tmp_path, capture_output=True, text=True, timeout=60)

    return run


WITHOUT_ERRORS = ["2>&-", "2>/dev/full", "2>&- >&- <&-"]


@pytest.mark.parametrize("where", WITHOUT_ERRORS)
def test_an_error_that_nobody_reads_keeps_its_code(shell, where):
    for command, code in [("kerf fit no-such.csv", 1), ("kerf fit --fetures 3", 2), ("kerf nonsense", 2), (f"kerf info '{IRIS}'", 1),
                          (f"kerf fit '{IRIS}' --map nonsense", 2)]:
        assert shell(f"{command} {where}").returncode == code, command


@pytest.mark.parametrize("where", WITHOUT_ERRORS)
def test_a_warning_that_nobody_reads_is_no_failure(shell, tmp_path, where):
    (tmp_path / "line.csv").write_text("x,y\n" + "".join(f"{i}.25,7.5\n" for i in range(60)))
    fit = "kerf fit line.csv --task regression --map rff --features 64 --quiet -o m.kerf"  # a target that does not vary
    assert "warning" in shell(fit).stderr
    (tmp_path / "m.kerf").unlink()
    done = shell(f"{fit} {where}")
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert (tmp_path / "m.kerf").read_bytes().startswith(b"KERFMODL")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["line.csv", "m.kerf"]
    assert shell("kerf info m.kerf").returncode == 0


PRINTING = {
    "help": "kerf --help",
    "help of a command": "kerf fit --help",
    "version": "kerf --version",
    "nothing": "kerf ",
    "completion": "kerf completion bash",
    "manual": "kerf manual",
    "maps": "kerf maps",
    "kernels": "kerf kernels --json",
    "fit": f"kerf fit '{IRIS}' --map rff --features 16 -o new.kerf",
    "fit as JSON": f"kerf fit '{IRIS}' --map rff --features 16 -o new.kerf --json",
    "info": "kerf info m.kerf",
    "predict": f"kerf predict m.kerf '{IRIS}'",
    "score": f"kerf score m.kerf '{IRIS}'",
    "transform": f"kerf transform '{IRIS}' --model m.kerf -o z.npy",
    "kernel": f"kerf kernel '{IRIS}' --target last --kernel gaussian -o k.npy",
    "select": f"kerf select '{IRIS}' --map rff --features 16 --budget 4 -o rows.txt",
    "diagnose": f"kerf diagnose '{IRIS}' --features 16 --seeds 1",
    "skeleton": "kerf skeleton check 'circle 1, full relu' --image 1x1x4",
}


@pytest.mark.parametrize("where", [">/dev/full", ">&-"])
def test_output_that_does_not_arrive_is_a_failure(shell, where):
    assert shell(f"kerf fit '{IRIS}' --map rff --features 16 -o m.kerf").returncode == 0
    for name, command in PRINTING.items():
        done = shell(f"{command} {where}")
        assert done.returncode == 1, (name, done.returncode, done.stderr)
        assert done.stderr.startswith("kerf: cannot write") and done.stderr.count("\n") == 1, (name, done.stderr)
        assert shell(f"{command} {where} 2>&-").returncode == 1, name


def test_what_prints_nothing_needs_no_output(shell):
    assert shell(f"kerf fit '{IRIS}' --map rff --features 16 -o m.kerf --quiet >&-").returncode == 0
    assert shell(f"kerf predict m.kerf '{IRIS}' -o p.txt >&-").returncode == 0
