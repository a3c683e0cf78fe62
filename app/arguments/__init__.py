"""What a tool's schema says of its parameters, and values for them as people type and read them; plain Python."""
