"""The steps from one version of the workspace file to the next, one file each, never changed once released."""
