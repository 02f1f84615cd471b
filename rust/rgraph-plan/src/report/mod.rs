//! Views of a plan: text listing, differences, explanations.
