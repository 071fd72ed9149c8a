"""Files -> turns -> exchanges: what is read, what was rejected and why, and what never reaches the store.

Modules are imported by name: whoever masks a secret needs no format.
"""
