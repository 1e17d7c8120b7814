"""The reference of the API: OpenAPI and AsyncAPI documents, their examples and their pages."""
