from .rules.custom_scheduler import *
