"""What the comparisons on MNIST share: its files in numpy, and a process with its CPU time."""
import gzip
import os
import shlex
import subprocess
import sys


def images(folder, name):
    import numpy as np
    with gzip.open(folder / name) as file:
        return np.frombuffer(file.read()[16:], np.uint8).reshape(-1, 784).astype(np.float32)


def labels(folder, name):
    import numpy as np
    with gzip.open(folder / name) as file:
        return np.frombuffer(file.read()[8:], np.uint8)


def run(command):
    """Standard output and CPU seconds of a process."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"failed: {shlex.join(map(str, command))}")
    return out, usage.ru_utime + usage.ru_stime
