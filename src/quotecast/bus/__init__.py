"""The bus: it carries numbered batches of changed quotes from the ingest process to every API worker."""
