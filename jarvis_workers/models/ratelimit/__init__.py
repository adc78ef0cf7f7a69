"""Rate limiting of model requests in one process (AIMD, GCRA), and budget values."""
