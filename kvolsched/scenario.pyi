from .learn.scenario import *
