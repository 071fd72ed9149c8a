"""Entity profiles and verified facts (ProGraph, section 3.1): who is spoken of in a chunk, and what it says about each."""
