"""The Turkish market: what its sources share, and how their quotes become one feed."""
