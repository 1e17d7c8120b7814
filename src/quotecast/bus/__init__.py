"""The way from the ingest process to every API worker: batches of changed quotes, numbered."""
