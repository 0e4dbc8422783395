"""Tests of the scheduler, and the random clusters they share."""
