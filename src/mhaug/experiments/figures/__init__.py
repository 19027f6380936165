"""Pictures, one file a picture."""
