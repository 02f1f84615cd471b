"""`python -m rgraph` is the command `rgraph`."""

import sys

from rgraph.cli import main

if __name__ == "__main__":
    sys.exit(main())
