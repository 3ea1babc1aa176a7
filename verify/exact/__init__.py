"""Relations between constants, decided for all their values in exact arithmetic."""
