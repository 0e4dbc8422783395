from .controllers.custom_controller.writes import *
