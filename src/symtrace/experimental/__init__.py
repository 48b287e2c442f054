"""FX's spellings of passes that it calls experimental."""
