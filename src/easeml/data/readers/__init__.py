"""Files of all formats to Arrow tables of text."""
