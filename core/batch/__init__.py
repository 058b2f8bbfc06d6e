# SPDX-License-Identifier: GPL-3.0-or-later
"""Many bakes: what a file asks for, on as many processes or machines as there are, and what is left to do of it.

`plan` reads a file of bakes; `run` bakes any jobs by name. Results are whole files; `batch.jsonl` beside them says what
became of each job, so that a batch that was ended in whatever way goes on where it was.
"""
