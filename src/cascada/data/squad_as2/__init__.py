"""Answer sentence selection from SQuAD: every question with all sentences of its article, labelled as in ASNQ."""

from cascada.data.squad_as2.article import Article, articles_of
from cascada.data.squad_as2.build import SquadAS2
from cascada.data.squad_as2.negatives import NegativeChoice, choose_negatives

__all__ = ["Article", "NegativeChoice", "SquadAS2", "articles_of", "choose_negatives"]
