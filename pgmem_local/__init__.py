"""pgmem-local: a personal memory that runs entirely on its owner's machine."""

__version__ = "0.1.0"
