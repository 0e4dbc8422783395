from .learn.alternatives import *
