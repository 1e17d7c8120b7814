"""`python -m world`: plays worlds by their seeds."""

import argparse

from world import clock, planted

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
