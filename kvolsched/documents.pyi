from .learn.documents import *
