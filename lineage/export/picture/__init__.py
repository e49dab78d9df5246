"""Pictures of a part of the graph as text: SVG, Mermaid, Graphviz."""
