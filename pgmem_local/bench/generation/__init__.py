"""New MemHop scenarios by the construction of the ProGraph paper (section 4, appendix B).

network.py -> sessions.py -> chains.py -> checks.py, put together in scenario.py.

Departures: dialogue and questions come from templates, not from a language model, so that a seed repeats them and every annotation is
exact; and some questions that nobody can answer are added, as in the shipped scenarios.
"""
