"""The Model Context Protocol server: six tools over stdio and streamable HTTP."""
