"""The loop: the queue, the scheduling cycle, the assume cache, and the binding of pods and volumes."""
