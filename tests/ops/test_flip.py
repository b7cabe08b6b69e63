import numpy as np

from tests.op_case import ALL, op_case


@op_case("flip", layout="HWC", horizontal=[0, 1], vertical=[0, 1])
def reference(x, horizontal, vertical):
    return np.flip(x, [axis for axis, on in ((0, vertical), (1, horizontal)) if on])


@op_case("flip", layout="FCHW", shapes=[(2, 3, 5, 4), (1, 3, 2, 2)], horizontal=[1, 0], vertical=[0, 1])
def frames(x, horizontal, vertical):
    return np.flip(x, [axis for axis, on in ((2, vertical), (3, horizontal)) if on])


@op_case("flip", layout="DHWC", shapes=[(3, 4, 5, 1), (2, 2, 2, 1)], dtypes=ALL[:3], depthwise=[1, 0], horizontal=[0])
def volumes(x, depthwise, horizontal):
    return np.flip(x, 0) if depthwise else x
