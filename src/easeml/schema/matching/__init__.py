"""Does data of one shape fit another schema, and if not, why?"""
