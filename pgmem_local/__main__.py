"""`python -m pgmem_local`, and what the commands `pgmem` and `pgmem-local` run."""

from __future__ import annotations

from pgmem_local.cli.app import main

if __name__ == "__main__":
    main()
