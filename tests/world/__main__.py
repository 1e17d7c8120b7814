"""`python -m world`: plays worlds by their seeds."""

import argparse
import os
import sys

from world import clock, planted

# The order of a set of names, such as a page's list, decides the bytes of a frame.
if os.environ.get("PYTHONHASHSEED") != "0":
    os.execve(sys.executable, sys.orig_argv, {**os.environ, "PYTHONHASHSEED": "0"})  # noqa: S606 - Python itself
clock.install()
# Before the first import of the service.
early = argparse.ArgumentParser(prog="just world", add_help=False)
early.add_argument("--planted", choices=planted.PLANTED, metavar="NAME")
if name := early.parse_known_args()[0].planted:
    planted.plant(name)

if __name__ == "__main__":
    try:
        from world.command import main

        raise SystemExit(main())
    except KeyboardInterrupt:
        raise SystemExit(130) from None
