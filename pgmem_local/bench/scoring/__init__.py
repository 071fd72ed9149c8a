"""Answers -> scores, without a judge. Pure functions; each rule is the one its data set states."""
