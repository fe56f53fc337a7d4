"""Work of people: one queue an application, answers that stay, and versions made of them."""
