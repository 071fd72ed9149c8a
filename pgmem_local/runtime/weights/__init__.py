"""Model weights on disk: which there are (`registry`), whether a file is what it should be (`checks`, `checksums`), getting it.

`download` and what it calls (`packages`, `hub`) are the only modules of this program that reach for the network.
"""
