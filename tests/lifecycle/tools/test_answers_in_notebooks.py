"""How an answer looks in a notebook: all of it, and nothing that it says is markup."""

import numpy as np

from easeml.lifecycle.tool import Number, Table, ToolAnswer


def test_numbers_are_rounded_whatever_computed_them() -> None:
    share = Number("share", "Share <of all>", np.float64(2 / 3), 0.6543219, None)
    rows = (("a & b", np.float64(0.123456789), None), ("c", 12345.0, 7))
    table = Table("Found", ("Name", "Loss", "Rows"), rows)
    shown = ToolAnswer("Look at <a>.", (share,), ("It holds.",), tables=(table,)).to_html()
    assert "<td>0.666667</td><td>0.654322</td><td>–</td>" in shown
    assert "<td>a &amp; b</td><td>0.123457</td><td>–</td>" in shown
    assert "<td>c</td><td>12345</td><td>7</td>" in shown
    assert "Look at &lt;a&gt;." in shown
