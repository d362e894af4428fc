"""Results as JSON: one shape for the command line, REST and MCP."""
