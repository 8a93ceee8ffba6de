"""Judges the cases that come in: a line of output for each, when it is done.

What the operators themselves print to standard output is not among the lines.
"""

import json
import os
import sys

from .database import Case


def main():
    lines = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    from .judge import judge

    for text in sys.stdin.read().split():
        print(json.dumps(judge(Case.parse(text))), file=lines, flush=True)


if __name__ == "__main__":
    main()
