"""Find vulnerabilities: rules, scanner, judging, reports. Pure: no connections, environment variables or processes."""
