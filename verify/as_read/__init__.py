"""Claims whose sides are one expression as their code is read, and the obligations of read code under the
hypotheses.
"""
