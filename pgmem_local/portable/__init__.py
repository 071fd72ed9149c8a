"""A memory in forms that other programs and people read, and the way back from one of them. Pure: values come in, text comes out."""
