"""Rules that every front end shares: JSON shapes, consent, and estimates and cost caps before paid calls."""
