"""Agents for people: tasks, changes of code, teams, chat, memory. The modules in this folder are pure."""
