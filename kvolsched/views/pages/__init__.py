"""Pictures of answers, mostly pages of words: each draws one kind of answer; `answers` lists them."""
