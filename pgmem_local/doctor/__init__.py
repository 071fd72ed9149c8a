"""What `pgmem doctor` looks at: whether the memory is sound, and whether it stays on this machine."""
