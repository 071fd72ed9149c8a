"""An honest benchmark on this machine: one model, one token budget and one answering path for every memory, with plain baselines."""
