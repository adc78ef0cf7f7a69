"""The commands `jarvis sec …`: options, the text that they print, and the session of triage."""
