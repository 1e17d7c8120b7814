"""A read-through cache of upstream answers, shared by all workers through Redis."""
