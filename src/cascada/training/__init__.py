"""How models are trained. In the order of a run:

`train.py` takes a recipe of any kind (`recipes.py`, `settings.py`); `tanda.py` and `study.py` turn one into several
runs; `single_run.py` carries out one run in its folder (`run_folder.py`), with the trainer (`trainer.py`,
`ranker_trainer.py`) and the learner of the kind of model (`learner.py`; `exit_learner.py` chooses the exits of an
update). Data comes from `groups.py` through `examples.py` and `batches.py`; `teacher.py` adds another ranker's
scores.
"""
