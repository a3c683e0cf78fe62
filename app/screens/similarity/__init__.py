"""The Similarity screen: which tools look alike, why, and what to write instead."""
