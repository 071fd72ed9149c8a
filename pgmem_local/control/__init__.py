"""What the owner can see and change of their memory (not in the paper): statements and corrections, how a node came about, what
forgetting takes with it, backups. Called by `PersonaMemory`, which holds the lock meanwhile.
"""
