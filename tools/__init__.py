# SPDX-License-Identifier: GPL-3.0-or-later
"""What `run.py` does, one module a command. None of it is part of the extension."""
