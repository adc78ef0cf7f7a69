"""Find, judge, prove and fix vulnerabilities. The modules in this folder are pure: values and the text scanner."""
