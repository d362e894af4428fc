"""How the models that ship in the wheel are made, one reproducible command each."""
