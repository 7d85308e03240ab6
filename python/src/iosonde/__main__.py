"""`python -m iosonde ..`: the program itself, where its folder is not on the path."""

import os
import sys

from ._program import IosondeError, find


def main() -> None:
    """Becomes the program."""
    try:
        path = find()
    except IosondeError as error:
        sys.exit(str(error))
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
