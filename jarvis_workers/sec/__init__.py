"""Find vulnerabilities: rules, scanner, reports. Pure: no connection, no environment, no process."""
