"""GenelPara: currencies and gold of the Turkish market, for when Truncgil is away."""
