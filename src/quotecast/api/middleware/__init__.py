"""What every request and answer passes first: CORS, ambiguous requests, page headers, problems."""
