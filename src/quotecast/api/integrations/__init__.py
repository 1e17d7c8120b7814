"""The protocols of other clients: UDF, OpenBB, MCP."""
