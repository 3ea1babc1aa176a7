"""The commands for agents, by the Model Context Protocol: each tool is a command, and its answer that of ``--json``."""
