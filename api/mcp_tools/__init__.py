"""What the MCP server offers: six tools, their arguments, results and texts; `api.mcp_server` puts them on a wire."""
