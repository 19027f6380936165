"""Logits in, losses out: the terms of the paper's Eqs. 8-9. Knows nothing of models, chains or graphs."""
