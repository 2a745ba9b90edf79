"""Does an interpreter beside the main one end with an exception at worst?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import ssdlab

PROGRAM = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import ssdlab
code = '''
import sys
sys.path[:0] = {path!r}
try:
    import ssdlab
    print("works" if ssdlab.drives() else "empty", flush=True)
except ImportError as error:
    print("refused", flush=True)
'''.format(path=sys.path)
def resident_bytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096
held = []
for _ in range(30):
    interpreter = interpreters.create()
    interpreters.run_string(interpreter, code)
    interpreters.destroy(interpreter)
    held.append(resident_bytes())
print("grown", held[-1] - held[9])
drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/1024")
drive.submit("write", [0, 4096])
print("main", len(drive.drain()))
"""


def test_a_second_interpreter_is_served_or_refused() -> None:
    package = str(Path(ssdlab.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=120,
        env={"PYTHONPATH": package},
    )
    assert done.returncode == 0, done.stderr
    *others, grown, main = done.stdout.split("\n")[:-1]
    assert len(others) == 30 and set(others) <= {"works", "refused"}, done.stdout
    assert main.startswith("main ")
    # A copy of the package is megabytes: of twenty more interpreters, none leaves one.
    assert int(grown.removeprefix("grown ")) < 1 << 20


def test_hostile_questions_of_a_fit_raise(run: ssdlab.Run) -> None:
    for base in ("", "../../../etc/passwd", "a?b=c", "x.toml", "\0"):
        with pytest.raises((ssdlab.Error, ValueError)):
            ssdlab.fit([run], base)
    for seed in (-1, 1 << 64):
        with pytest.raises(ssdlab.UsageError, match="seed"):
            ssdlab.fit([run], "samsung-840-pro-256gb", seed=seed)
    with pytest.raises((ssdlab.Error, TypeError, AttributeError)):
        ssdlab.fit([None], "samsung-840-pro-256gb")  # type: ignore[list-item]
    for answer in ("", "{}", "[1]", '{"base": 3}'):
        with pytest.raises(ssdlab.Error):
            ssdlab._native.fit_toml(answer, "name")
