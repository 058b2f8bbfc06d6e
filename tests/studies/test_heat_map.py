# SPDX-License-Identifier: GPL-3.0-or-later
import re

import numpy as np
from heft.studies.lib.heat_map import heat_map


def test_a_heat_map_has_a_cell_for_each_number():
    values = np.array([[0.0, 50.0], [np.nan, 200.0]])
    text = heat_map("Survives <N>", values, ["0/2", "1/2"], ["0°", "180°"], "phase", "direction")
    assert re.findall(r'<rect x="\d+".*?fill="(#\w+)"', text) == ["#ecf3fa", "#b3c8e0", "#084594"]
    words = re.findall(r">([^<]*)</text>", text)
    assert words == ["Survives &lt;N&gt;", "0°", "0", "50", "180°", "200", "0/2", "1/2", "phase", "direction"]
