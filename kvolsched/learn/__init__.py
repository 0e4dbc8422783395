"""What is learned from: scenarios, incidents, exercises, lessons, and rejected designs with their experiments."""
