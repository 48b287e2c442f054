"""FX's spellings of passes."""
