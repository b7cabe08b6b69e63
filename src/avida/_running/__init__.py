"""How and where operators run: modes, contexts, memory, and Python code as operators or in the background."""
