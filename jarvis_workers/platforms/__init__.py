"""Model providers: what is asked of one, its quirks as data, what an answer costs."""
