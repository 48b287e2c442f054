"""Small building blocks without knowledge of graphs or torch."""
