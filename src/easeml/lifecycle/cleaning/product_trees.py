"""Products of many small polynomials under changes of one factor, and their derivatives.

One segment tree a class, all in one array of nodes: leaves are the dirty rows of the class, the
polynomial of a leaf is (1 - b) + b z, where b is the mass of the row's candidates that are nearer
than the place of the scan, and a node holds the product of its leaves, cut at degree k - 1.
Coefficient n of a root is the weight of n nearer rows.

``adjoint`` holds, for linear functions of the root's coefficients that were added up in the past,
what has not been handed down to the leaves yet. A leaf's path is handed down before the leaf
changes, while all factors beside the path still have the values that they had when the functions
were added. So every leaf ends with the sum over the scan of the derivatives with respect to its own
polynomial: what the scan would have been with that row nearer, or farther. There is no division
anywhere, so nothing cancels.
"""

from __future__ import annotations

from easeml.lifecycle.compiled import njit


@njit(cache=True)
def multiply(left, right, out):
    """Set ``out`` to the product of two polynomials, cut at its length."""
    k = out.shape[0]
    out[:] = 0.0
    for i in range(k):
        if left[i] == 0.0:
            continue
        for j in range(k - i):
            out[i + j] += left[i] * right[j]


@njit(cache=True)
def hand_down(source, sibling, target):
    """Add to a child's functions those of its parent, applied to the product with the sibling."""
    k = sibling.shape[0]
    for f in range(source.shape[0]):
        for e in range(k):
            total = 0.0
            for n in range(k - e):
                total += source[f, e + n] * sibling[n]
            target[f, e] += total


@njit(cache=True)
def descend(product, adjoint, waiting, base, leaves, slot, others, spare):
    """Hand the functions on a leaf's path down; set ``others`` to the product of all other leaves."""
    others[:] = 0.0
    others[0] = 1.0
    node = 1
    half = leaves >> 1
    while half > 0:
        child = 2 * node + (1 if slot & half else 0)
        sibling = child ^ 1
        here, there, beside = base + node, base + child, base + sibling
        if waiting[here]:
            hand_down(adjoint[here], product[beside], adjoint[there])
            hand_down(adjoint[here], product[there], adjoint[beside])
            adjoint[here] = 0.0
            waiting[here] = False
            waiting[there] = True
            waiting[beside] = True
        multiply(others, product[beside], spare)
        for n in range(others.shape[0]):
            others[n] = spare[n]
        node = child
        half >>= 1


@njit(cache=True)
def set_leaf(product, base, leaves, slot, far, near):
    """Set a leaf's polynomial to far + near z and renew its path."""
    node = leaves + slot
    product[base + node] = 0.0
    product[base + node, 0] = far
    if product.shape[1] > 1:
        product[base + node, 1] = near
    node >>= 1
    while node > 0:
        multiply(product[base + 2 * node], product[base + 2 * node + 1], product[base + node])
        node >>= 1


@njit(cache=True)
def reset_leaf(product, adjoint, waiting, base, leaves, slot):
    """Bring a leaf and all nodes beside and on its path back to the start."""
    node = leaves + slot
    while node > 0:
        for place in (base + node, base + (node ^ 1)):
            product[place] = 0.0
            product[place, 0] = 1.0
            adjoint[place] = 0.0
            waiting[place] = False
        node >>= 1
