"""What makes two tools hard to tell apart, and what to write instead: words, examples, parameters and names."""
