"""Workshop screen: change tools in drafts, and show that the change helps."""
