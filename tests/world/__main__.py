"""`python -m world`: plays worlds by their seeds."""

import sys

from world import clock, planted

clock.install()
if "--planted" in sys.argv:
    planted.plant(sys.argv[sys.argv.index("--planted") + 1])

if __name__ == "__main__":
    from world.command import main

    raise SystemExit(main())
