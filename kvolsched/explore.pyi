from .questions.explore import *
