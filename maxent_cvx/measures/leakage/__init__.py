"""What is learnt: the measures that compare what an adversary believes before and after."""
