"""How far a compiler's result may be from the oracle's, by dtype (docs/numerics.md)."""

import numpy as np

# Most relative and absolute difference, and most units in the last place; other dtypes are exact. Narrow floats are
# added in f32, so a sum that cancels is off by units of f32.
BOUNDS = {"f64": (1e-12, 1e-12, 0), "f32": (1e-5, 1e-5, 0), "f16": (0, 1e-6, 2), "bf16": (0, 1e-6, 2)}


def ulp(dtype, values):
    digits, least = {"f16": (11, -24), "bf16": (8, -133)}[dtype]
    with np.errstate(divide="ignore", invalid="ignore"):
        exponents = np.floor(np.log2(np.abs(values)))
    exponents = np.where(np.isfinite(exponents), exponents, -1000)
    return np.ldexp(1.0, np.maximum(exponents - digits + 1, least).astype(int))


def difference(dtype, found, wanted, scale):
    """Words, or nothing. Bounds are relative to scale: the result, or the sum of the magnitudes added."""
    if found.shape != wanted.shape:
        return f"shape {found.shape}, wanted {wanted.shape}"
    if dtype not in BOUNDS:
        return None if np.array_equal(found, wanted) else f"{found.ravel()[:8]}, wanted {wanted.ravel()[:8]}"
    with np.errstate(over="ignore"):
        overflows = np.isinf(wanted.astype(found.dtype)) & np.isfinite(wanted)
    wanted = np.where(overflows, np.copysign(np.inf, wanted), wanted).astype(np.float64)
    found = found.astype(np.float64)
    relative, absolute, units = BOUNDS[dtype]
    scale = np.where(np.isfinite(scale), np.abs(scale), 0)
    allowed = absolute + relative * scale
    if units:
        allowed = absolute + units * ulp(dtype, scale)
    with np.errstate(invalid="ignore"):
        good = (found == wanted) | (np.isnan(found) & np.isnan(wanted)) | (np.abs(found - wanted) <= allowed)
    if good.all():
        return None
    worst = np.flatnonzero(~good.ravel())[0]
    return f"[{worst}] is {found.ravel()[worst]!r}, wanted {wanted.ravel()[worst]!r} ({(~good).sum()} of {good.size})"
