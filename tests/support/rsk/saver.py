"""Saves two sketches over one file, again and again, until it is killed. Run by test_atomic.py.

    python saver.py PATH          for every line on stdin: fork a saver, print its pid once it saves; wait for its death
    python saver.py PATH LIMIT    save once with files limited to LIMIT bytes, print the error

A fork takes a millisecond where a new process would import the package first.
"""

import os
import signal
import sys

import numpy as np

from repsketch import Sketch, lsh

LONGEST_LIFE = 60  # seconds


def two_sketches():
    """Two sketches of 150 KB with other bytes: large enough to be interrupted while they are written."""
    blank = Sketch.empty(lsh.L2(bandwidth=1.0), n_rows=200, n_buckets=64, n_features=3)
    points = np.random.default_rng(0).normal(size=(50, 3))
    return blank.add(points[:25], progress=False), blank.add(points[25:], progress=False)


def serve(path: str) -> None:
    """Fork a saver for every line."""
    sketches = two_sketches()
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            signal.alarm(LONGEST_LIFE)  # should nobody kill it
            sketches[0].save(path)
            print(os.getpid(), flush=True)
            while True:
                for sketch in sketches:
                    sketch.save(path)
        os.waitpid(child, 0)
        print("dead", flush=True)


def save_limited(path: str, limit: int) -> None:
    """Save on a disk that takes files of ``limit`` bytes."""
    import resource  # only where there is fork

    sketch = two_sketches()[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        sketch.save(path)
    except OSError as error:
        print(type(error).__name__, error.errno)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        serve(sys.argv[1])
    else:
        save_limited(sys.argv[1], int(sys.argv[2]))
