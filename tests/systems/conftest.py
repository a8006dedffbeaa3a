"""Data and recipes for the tests of learners."""

import training_data

data, content_in, recipe = training_data.data, training_data.content_in, training_data.recipe  # fixtures
