//! Renders views as bytes: text, JSON, CSV, Markdown, SVG. It never writes a file.
