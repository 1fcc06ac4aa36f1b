"""Intervals of many linear expressions over one feasible set, with as few linear programs as will do."""
