"""What may be written in a manifest: the kinds, their fields, and the scalar truth about quantities and
selectors.
"""
