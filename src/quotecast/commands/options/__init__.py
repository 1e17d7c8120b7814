"""Options of the commands, apart from them: the command line needs no module that only one of them needs."""
