"""What other programs install: the MCP bundle, the registry's manifest, the skill."""
