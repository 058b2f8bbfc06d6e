# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator may choose about look-ahead control; the defaults are those that served every clip tried."""

from dataclasses import dataclass
from typing import Literal

from ...character import check


@dataclass(frozen=True)
class Settings:
    """Factors multiply the weights of Muico et al. 2009, table 2, which as printed let real clips sag and scuff.

    Two departures make pushes survivable: contact forces are foreseen as the ground can give them, and to slide a foot
    that bears load costs.

    With P u in the objective (eq. 6) the reference is no fixed point of the policy: it saves effort by leaving it. Our
    walk then drifts back by centimetres a step and falls within seconds; with P (u - u_reference) it stays.
    """

    policy: Literal["nqr", "lqr"] = "nqr"  # eq. 11 or eq. 10
    adaptation: float = 0.002  # [gamma] of eq. 17; 0 leaves the predicted torques as they are
    effort: float = 0.1  # on torques [R and P]
    force: float = 0.1  # on contact forces [P]
    location: float = 0.1  # on the root's x and y [Q]
    height: float = 10.0  # on the root's z [Q]
    stance: float = 0.3  # on velocities of points that bear load [Q]; 0: none, the paper's
    about_reference: bool = True  # penalise P (u - u_reference); False: P u, the paper's
    possible_forces: bool = True  # foresee forces that push and that friction can hold; False: any, the paper's
    cycles: int = 2  # periods of a cyclic motion that the recursion sweeps, at least
    settle: float = 2.0  # s that the recursion sweeps beyond the end of other motions
    reset_phase: bool = False  # move on to the touchdown when a foot touches early
    await_touchdown: bool = False  # wait at the touchdown when a foot touches late
    follow_ground: bool = True  # raise and lower the reference with the ground under the stance foot
    rehearsals: int = 40  # that may be spent on finding settings that hold if these do not
    rehearsal_seconds: float = 0.0  # after which no rehearsal begins; 0: only their number counts

    def checked(self) -> "Settings":
        """Itself, or ValueError."""
        owner = "look-ahead control"
        if self.policy not in {"nqr", "lqr"}:
            raise ValueError(f"The policy must be nqr or lqr, not {self.policy!r}.")
        check.not_negative(self.adaptation, "adaptation", owner)
        check.not_negative(self.stance, "stance", owner)
        check.not_negative(self.settle, "settle", owner)
        check.not_negative(self.rehearsals, "number of rehearsals", owner)
        check.not_negative(self.rehearsal_seconds, "time for rehearsals", owner)
        for name in ("effort", "force", "location", "height"):
            check.positive(getattr(self, name), name, owner)
        if self.cycles < 1:
            raise ValueError(f"The recursion must sweep one cycle at least, not {self.cycles}.")
        return self
