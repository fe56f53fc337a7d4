"""What an endpoint is asked and what it answers, in its own form and in those of other tools.

Pure translations, shared by the service and by models that were taken elsewhere.
"""
