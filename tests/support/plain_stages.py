"""Stages of the page ``docs/spec/inference.md``, one input at a time, in plain Python integers."""


def clamp(x, low, high):
    return low if x < low else high if x > high else x


def halved(x, n):
    """``x >>> n`` of the page."""
    return (x + (2 ** (n - 1) if n else 0)) // 2**n


def stage_coordinates(stage, inputs):
    """The page's z of a stage."""
    z = []
    for j in range(stage.matrix.shape[1]):
        total = sum(int(stage.matrix[i, j]) * h for i, h in enumerate(inputs))
        moved = halved(int(stage.multipliers[j]) * total, stage.right_shift)
        z.append(clamp(moved + int(stage.shift[j]) * 2**stage.shift_bits, -stage.limit, stage.limit))
    return z


def activated(stage, z):
    """The page's h of a stage."""
    w = stage.width_bits
    if stage.activation == "none":
        return z
    if stage.activation == "relu":
        return [clamp(halved(z_j, w), 0, 127) for z_j in z]
    if stage.activation == "clip":
        return [clamp(halved(z_j, w), -127, 127) for z_j in z]
    h = []
    for table, z_j in zip(stage.tables.tolist(), z, strict=True):
        u = clamp(z_j + (len(table) - 1) * 2**w // 2, 0, (len(table) - 1) * 2**w)
        i = min(u // 2**w, len(table) - 2)
        h.append(halved(table[i] * 2**w + (table[i + 1] - table[i]) * (u - i * 2**w), w))
    return h


def run_stages(projection, values):
    """The page's z of every stage, and what the last one hands on."""
    found, h = [], values
    for stage in projection.stages:
        found.append(stage_coordinates(stage, h))
        h = activated(stage, found[-1])
    return found, h
