"""A backend of OpenBB Workspace: its configuration, and widgets over the answers of the service."""
