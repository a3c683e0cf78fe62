"""The vocabulary of the product as frozen values."""
