"""Personal data: which columns hold it, where its values go, who reads them, what can be deleted."""
