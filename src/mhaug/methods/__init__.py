"""One file a row of Table 1, all behind `Method`. A method knows how to learn from a step; not when to stop."""
