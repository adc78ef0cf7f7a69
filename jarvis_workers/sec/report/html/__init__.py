"""A report as one HTML file."""

from jarvis_workers.sec.report.html.page import render_html

__all__ = ["render_html"]
