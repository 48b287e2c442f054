"""`python -m symtrace` is the `symtrace` command."""

from .cli.main import main

main()
