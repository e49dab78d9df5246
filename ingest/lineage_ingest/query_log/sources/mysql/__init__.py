"""The logs of MySQL and MariaDB."""
