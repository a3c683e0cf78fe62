"""How alike tools look: scores over all pairs, why, in what groups, and what runs say of it."""
