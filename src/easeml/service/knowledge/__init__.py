"""The knowledge base, the rules that narrow it, and what finished tasks taught."""
