# The SDK release that behaviour follows, and whose work this is.
VERSION = "3.3.0-aspen"
