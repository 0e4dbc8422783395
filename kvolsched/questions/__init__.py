"""Questions about a cluster and their answers: why, fix, may, predict, what-if, explore, stories, series, decode."""
