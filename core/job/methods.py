# SPDX-License-Identifier: GPL-3.0-or-later
"""The methods by which a character can be made to move, by name."""

from collections.abc import Mapping

from . import balance, combination, gait, lookahead, momentum, replanning
from .stage import Method

METHODS: Mapping[str, Method] = {
    "lookahead": Method(
        "Look-ahead", lookahead.prepare_policy, lookahead.simulate_policy, lookahead.choose, helps=True
    ),
    "replanning": Method(
        "Replanning",
        replanning.prepare_policy,
        replanning.simulate_policy,
        replanning.choose,
        plans_forces=True,
        edits=True,
    ),
    "momentum": Method("Momentum", momentum.prepare_policy, momentum.simulate_policy, momentum.choose),
    "balance": Method("Balance", balance.prepare_policy, balance.simulate_policy, balance.choose, goes_between=True),
    "gait": Method("Gait", gait.prepare_policy, gait.simulate_policy, gait.choose, plans_forces=True),
    "combination": Method(
        "Combination",
        combination.prepare_policy,
        combination.simulate_policy,
        combination.choose,
        combine=combination.combine,
    ),
}
