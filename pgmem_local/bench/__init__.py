"""A benchmark on this machine: one model, one token budget and one answering path for every memory, plain baselines beside ours."""
