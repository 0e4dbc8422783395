from .api.make import *
