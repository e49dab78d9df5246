"""Engines that say for the hand-written cases of their dialect what our reading must agree with."""
