"""The quality screen: tools from worst to best, with the notes of a kind reviewer on each."""
