"""The Model Context Protocol: tools and resources for language models, over stdio and HTTP."""
