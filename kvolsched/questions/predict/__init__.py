"""Predictions: a question about what happens next, its candidates, and what speaks for or against each of them.

`candidates` lists what may be answered, with facts of the API and no verdict; `outcome` lets it happen on a fork and
judges every candidate; `prediction` takes answers, moves the cluster, and counts; `bet` is a question in other words.
"""

from .bet import Bet
from .candidates import ASKS, NONE, PossibleAnswer
from .outcome import Outcome, Verdict
from .prediction import (
    AskedQuestion,
    Grade,
    GradeRow,
    NotAnswered,
    Prediction,
    forget_grades,
    grade,
    predict,
    question_of_next_step,
)

__all__ = [
    "ASKS", "NONE", "AskedQuestion", "Bet", "Grade", "GradeRow", "NotAnswered", "Outcome", "PossibleAnswer",
    "Prediction", "Verdict", "forget_grades", "grade", "predict", "question_of_next_step",
]  # fmt: skip
