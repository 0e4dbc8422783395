"""What is measured: agreement with recordings, speed, differences between rules, sweeps, checks of manifests."""
