"""easeml for programs that write models by themselves: its REST API as an MCP server.

It knows the client and the contract only, as the pages do.
"""

from easeml.mcp.protocol import serve
from easeml.mcp.tools import tools_of

__all__ = ["serve", "tools_of"]
