// All that an operator's body may use. Compiled by the host compiler and, at run time, by NVRTC.
#pragma once
#include "device/convert.h"
#include "device/view.h"
