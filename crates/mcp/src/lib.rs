//! The MCP server: what agents may ask about earlier sessions, over standard input and output.
