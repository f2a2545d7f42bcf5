// Placeholder so that the folder is a target from the first day.
