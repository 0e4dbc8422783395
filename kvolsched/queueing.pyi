from .learn.queueing import *
