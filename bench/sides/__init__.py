"""Who is measured: a folder for each library, in it a worker for each subject."""
