"""Statistics over many runs: metrics, intervals, confusion, calibration and paired comparison; pure."""
