"""HTTP to providers of models: allowed origins, bounded answers, no redirects."""
