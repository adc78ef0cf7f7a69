"""Triage: filters, bulk changes, import and export."""
