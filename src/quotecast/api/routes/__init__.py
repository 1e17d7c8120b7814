"""The endpoints: a module per group, with its parameters and bodies."""
