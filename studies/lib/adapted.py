# SPDX-License-Identifier: GPL-3.0-or-later
"""Adaptation to contact (Muico et al. 2009, section 4) around a controller that has none, in plain numpy."""

from collections.abc import Callable

import numpy as np
from heft.core.character import Character
from heft.core.contact.detection import Contacts
from heft.core.control.law import AffineLaw, State
from heft.core.control.lookahead import Settings
from heft.core.control.lookahead.weights import make_weights
from heft.core.control.method import Follower
from heft.core.dynamics import point_jacobian
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Adapted:
    """A controller's torques tau~ with tau = tau~ - answer (J_c^T chi - g~): equations 14 and 15, W_m = 1 / gamma.

    `predicted` is asked for the generalised force g~ (nv,) of the contacts that the controller reckons with.
    """

    def __init__(
        self, controller: Follower, character: Character, gamma: float, predicted: Callable[[], Array]
    ) -> None:
        self.controller, self.character, self.gamma, self._predicted = controller, character, gamma, predicted
        self._weights = make_weights(character, Settings())

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """The controller's law, answering the contact forces about to be found."""
        law = self.controller.law(state, contacts)
        if self.gamma == 0.0:
            return law
        character, q, work = self.character, np.array(state.q_next), state.work
        nv, motors = character.nv, len(law.torque)
        matrix = work.mass_matrix + np.diag(work.diagonal)
        if law.implicit is not None:
            matrix[-motors:, -motors:] += np.diag(law.implicit)
        moved = np.linalg.inv(matrix)  # accelerations by generalised forces
        features = [np.sqrt(self._weights.joint_feature)[:, None] * moved]
        for body, point, weight in zip(
            self._weights.feature_body, self._weights.feature_point, self._weights.feature_weight, strict=True
        ):
            features.append(np.sqrt(weight)[:, None] * (point_jacobian(character, q, int(body), point) @ moved))
        rows = np.concatenate(features)
        by_torque = rows[:, nv - motors :]
        answer = np.linalg.solve(np.eye(motors) + self.gamma * by_torque.T @ by_torque, self.gamma * by_torque.T @ rows)
        acting = np.zeros((nv, 3 * int(contacts.filled[0])))
        for c in range(int(contacts.filled[0])):
            body = int(contacts.body[c])
            arm = work.rotation[body].T @ (contacts.point[c] - work.position[body])
            acting[:, 3 * c : 3 * c + 3] = point_jacobian(character, q, body, arm).T
        torque = law.torque + answer @ self._predicted()
        return AffineLaw(torque, -answer @ acting, law.implicit)
