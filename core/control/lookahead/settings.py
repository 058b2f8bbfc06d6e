# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator may choose about look-ahead control; the defaults are those that served every clip tried."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from ...settings import Choice, Described, setting

WEIGHT = (1e-9, 1e9)  # of the factors, which are never zero


@dataclass(frozen=True)
class Settings(Described):
    """Factors multiply the weights of Muico et al. 2009, table 2, which as printed let real clips sag and scuff.

    Two departures make pushes survivable: contact forces are foreseen as the ground can give them, and to slide a foot
    that bears load costs.

    With P u in the objective (eq. 6) the reference is no fixed point of the policy: it saves effort by leaving it. Our
    walk then drifts back by centimetres a step and falls within seconds; with P (u - u_reference) it stays.
    """

    owner: ClassVar[str] = "look-ahead control"

    adaptation: float = setting(
        0.002,
        "Contact Adaptation",
        "How far joints yield to contacts that come sooner, later or harder than planned. Too much makes a gait sway; "
        "0 leaves torques as planned",
        shown="basic",
        symbol="gamma, Muico et al. 2009, equation 17",
        bounds=(0.0, 1e6),
        usual=(0.0, 0.02),
        digits=4,
    )
    follow_ground: bool = setting(
        True,
        "Follow Ground",
        "Raise and lower the motion with the ground under the standing foot and where the next will land: stairs, "
        "slopes, kerbs",
        shown="basic",
    )
    reset_phase: bool = setting(
        False,
        "Early Contacts",
        "When a foot lands too early, skip ahead to where it should have landed",
        shown="basic",
        symbol="phase reset, section 5.4",
    )
    await_touchdown: bool = setting(
        False,
        "Late Contacts",
        "When a foot lands too late, wait for it, for an eighth of a second at most",
        shown="basic",
        symbol="phase reset, section 5.4",
    )
    effort: float = setting(
        0.1,
        "Effort Cost",
        "Higher is softer: corrections use less torque",
        symbol="R and P",
        bounds=WEIGHT,
        usual=(1e-4, 10.0),
        digits=3,
    )
    force: float = setting(
        0.1,
        "Contact Force Cost",
        "Higher makes corrections use less force on the ground",
        symbol="P",
        bounds=WEIGHT,
        usual=(1e-4, 10.0),
        digits=3,
    )
    help: float = setting(
        100.0,
        "Help Cost",
        "Higher leaves more of the corrections to feet and joints where help is given besides",
        shown="hidden",
        symbol="P",
        bounds=WEIGHT,
    )
    location: float = setting(
        0.1,
        "Position Weight",
        "Higher returns sooner to the action's position over the ground",
        symbol="Q on the root's x and y",
        bounds=WEIGHT,
        usual=(1e-4, 10.0),
        digits=3,
    )
    height: float = setting(
        10.0,
        "Height Weight",
        "Higher sags less after a step down or a push",
        symbol="Q on the root's z",
        bounds=WEIGHT,
        usual=(1e-4, 100.0),
    )
    stance: float = setting(
        0.3,
        "Foot Slide Cost",
        "Higher keeps standing feet stiller while the body corrects itself. 0 leaves it out, as the paper does",
        symbol="Q on velocities of points that bear load",
        bounds=(0.0, 1e9),
        usual=(0.0, 10.0),
        digits=3,
    )
    cycles: int = setting(
        2,
        "Cycles Ahead",
        "How many cycles of a repeating motion to look ahead, at least",
        bounds=(1, 1000),
        usual=(1, 4),
    )
    settle: float = setting(
        2.0,
        "Hold Time after End",
        "How long to look beyond the end of other motions, holding the last pose",
        unit="s",
        bounds=(0.0, 3600.0),
        usual=(0.0, 5.0),
    )
    rehearsals: int = setting(
        40,
        "Rehearsals",
        "How many other settings to try in simulation if the character falls with these; 0 keeps these",
        bounds=(0, 10000),
        usual=(0, 60),
    )
    policy: Literal["nqr", "lqr"] = setting(
        "nqr",
        "Feedback",
        "How corrections are precomputed",
        shown="hidden",
        choices=(
            Choice("nqr", "Torques and Contacts", "Plan contact forces together with torques [NQR, equation 11]"),
            Choice("lqr", "Torques Alone", "Take contact forces as they come; falls sooner [LQR, equation 10]"),
        ),
    )
    about_reference: bool = setting(
        True,
        "Effort Relative to Reference",
        "Count only the difference from the motion's own torques as effort; otherwise all torque, as the paper prints",
        shown="hidden",
        symbol="P (u - u_reference) or P u, equation 6",
    )
    possible_forces: bool = setting(
        True,
        "Possible Forces",
        "Predict only forces that push and that friction can hold; otherwise any, as the paper does",
        shown="hidden",
    )
    rehearsal_seconds: float = setting(
        0.0,
        "Rehearsal Time",
        "Start no rehearsal after this much computing time; 0 limits only their number. With a limit the same job may "
        "differ on another computer",
        shown="hidden",
        unit="s",
        bounds=(0.0, 1e6),
    )
