"""Algorithm 2 of PGMem: query.py, then seed.py -> expand.py -> assemble.py, then serialise.py; pipeline.py runs the middle."""
