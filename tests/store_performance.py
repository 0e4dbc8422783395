"""Run the benchmarks and store what they print in `docs/performance.md`, with the machine: `make performance`.

The page's figures are between two marks, so they are those of the command, and of nobody's memory.
"""

import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
BEGIN, END = "<!-- begin: make performance -->", "<!-- end: make performance -->"


def stored(page, printed):
    """Return the page with what the command printed between the marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{PAGE}: the marks {BEGIN} and {END} are missing")
    return f"{before}{begin}\n\n```text\n{printed.rstrip()}\n```\n\n{end}{after}"


if __name__ == "__main__":
    command, lines = [sys.executable, "-m", "kvolsched", "bench", *sys.argv[1:]], []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        for line in running.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    if running.returncode:
        sys.exit(f"the benchmark ended with exit code {running.returncode}; the page is as it was")
    PAGE.write_text(stored(PAGE.read_text(encoding="utf-8"), "".join(lines)), encoding="utf-8")
