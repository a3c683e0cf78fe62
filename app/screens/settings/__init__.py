"""Settings: appearance, runs, servers, keys, consents and folders."""
