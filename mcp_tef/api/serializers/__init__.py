"""Values as the JSON that front ends print and save; scripts rely on these keys."""
