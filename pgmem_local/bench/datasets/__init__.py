"""Benchmark data -> typed cases. What we wrote lies in `bench/data`; what others wrote is read from a folder of yours and never shipped."""
