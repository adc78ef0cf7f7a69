"""Stages of runs in which agents change code or work as a team: their kinds, options and steps."""
