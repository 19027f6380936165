"""python -m mhaug."""

from mhaug.cli import main

if __name__ == "__main__":
    main()
