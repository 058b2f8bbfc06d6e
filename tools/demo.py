# SPDX-License-Identifier: GPL-3.0-or-later
"""`run.py demo`: register Heft in this Python's Blender and run the demo."""

import argparse

import heft


def main() -> None:
    """Make all that the demo makes in the folder that the command line names."""
    parser = argparse.ArgumentParser(prog="run.py demo")
    parser.add_argument("--output", default="out", help="the folder to write into")
    known = parser.parse_args()
    heft.register()
    from heft.examples import demo

    demo.main(known.output)
    heft.unregister()


if __name__ == "__main__":
    main()
