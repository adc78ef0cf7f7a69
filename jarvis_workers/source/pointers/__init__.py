"""What functions of C do with their pointer parameters, from syntax trees; pure."""
