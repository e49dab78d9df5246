"""What is published: wheels that install and run everywhere, licences, a bill of materials. `make dist-check`."""
