from .measure.experiments import *
