"""GPU models: what their makers publish, which one is at hand, and what it measurably reaches."""
