"""Augmented graphs out of chains: views with fixed shapes, and ordinary `Data` for everybody else."""
