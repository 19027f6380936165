"""Packages that a command will need in the end, asked for before its work."""

from importlib import import_module

from mhaug.checks import RequestError


def needed(*packages: str, why: str, extra: str, or_else: str = "") -> None:
    """Refuse where one cannot be imported, which is more than that it is installed."""
    for package in packages:
        try:
            import_module(package)
        except ImportError as missing:
            raise RequestError(
                f"{why} needs the package '{missing.name or package}': pip install 'mhaug[{extra}]'{or_else}"
            ) from missing
