from .views.widgets import *
