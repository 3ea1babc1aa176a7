"""``python -m fedtheory``: the command, which belongs to :mod:`verify`; nothing else here knows of it."""

import sys

from verify.cli import main

if __name__ == "__main__":
    sys.exit(main())
