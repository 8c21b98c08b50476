"""Shell completion and the man page know every command and option, because they come from them."""
import shutil
import subprocess

import pytest


def complete(kerf, tmp_path, *words):
    """What bash would offer for the last of `words`."""
    script = tmp_path / "kerf.bash"
    script.write_text(kerf("completion", "bash").out)
    quoted = " ".join(f"'{word}'" for word in words)
    done = subprocess.run(["bash", "-c", f"source '{script}'; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _kerf; printf '%s\\n' \"${{COMPREPLY[@]}}\""],
                          capture_output=True, text=True, check=True, cwd=tmp_path)
    return done.stdout.split()


def test_bash_completes_commands_options_values_and_files(kerf, tmp_path):
    assert complete(kerf, tmp_path, "kerf", "tr") == ["transform"]
    assert "--features" in complete(kerf, tmp_path, "kerf", "fit", "data.csv", "--fe")
    maps = [entry["name"] for entry in kerf("maps", "--json").json["maps"]]
    assert set(maps) <= set(complete(kerf, tmp_path, "kerf", "fit", "--map", ""))
    assert complete(kerf, tmp_path, "kerf", "fit", "--precision", "d") == ["double"]
    (tmp_path / "table.csv").write_text("1\n")
    assert complete(kerf, tmp_path, "kerf", "fit", "tab") == ["table.csv"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_name_every_command(kerf, shell):
    script = kerf("completion", shell).out
    assert all(command in script for command in ["fit", "predict", "score", "transform", "kernel", "info", "maps"])
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_unknown_shell_is_a_usage_error(kerf):
    assert kerf("completion", "tcsh").code == 2


def test_man_page_is_good_roff_and_complete(kerf):
    page = kerf("manual").out
    assert ".SS kerf fit" in page and "\\-\\-bandwidth" in page and "EXIT STATUS" in page
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, text=True, capture_output=True)
        assert done.returncode == 0 and done.stderr == ""
