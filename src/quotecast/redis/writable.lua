#!lua flags=allow-oom
-- Does nothing: a server that refuses writes also refuses to run a script that may write.
-- KEYS[1] a key on the node to check
-- Returns 1.
return 1
