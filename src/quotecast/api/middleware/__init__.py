"""The outer layers of every request and answer: CORS, ambiguous requests, page headers, problems."""
