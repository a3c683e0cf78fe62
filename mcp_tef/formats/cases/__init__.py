"""The forms that files of test cases have, one module each."""
