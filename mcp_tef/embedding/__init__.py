"""Embedders: local models, providers, endpoints and TF-IDF, with a cache of vectors."""
