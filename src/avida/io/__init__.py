"""Reading from outside."""

from avida.io import file as file
