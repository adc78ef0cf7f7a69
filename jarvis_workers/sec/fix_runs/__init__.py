"""Fix the findings of a run: submit the fixes, and write their patches and branch."""
