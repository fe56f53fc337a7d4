"""The contract of ease.ml's prototype (2018 to 2021): images with ``train``, ``predict``, ``eval`` and
``suggest``, folders of samples in the place of tables, and configuration spaces of their own.

``description`` reads what such an image says of itself, ``datasets`` writes and reads its folders,
``programs`` calls it; ``image`` makes the folder of a module of an image (decision 0065).
"""
