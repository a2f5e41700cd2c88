"""Correctness: does a kernel compute what its operation says, everywhere it may write and nowhere else?"""
