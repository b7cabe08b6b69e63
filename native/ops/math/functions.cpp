// The functions of avida.math.
#include "loops/elementwise/elementwise.h"
#include "ops/math/arithmetic.h"

namespace avida::ops {
namespace {
constexpr double kFunctionCost = 8;  // a call of the C library against moving a byte
}

#define AVIDA_FUNCTION(NAME, BODY, DOC)                                           \
  AVIDA_OP_IN(math, NAME, NoArgs) {                                               \
    op.doc(DOC " Integers give float32.").plain().input("input", "The numbers."); \
    op.example("avida.math." #NAME "(avida.tensor([0.25, 0.5, 1.0]))");           \
    elementwise<BODY, 1, Promotion::floating>(op, kFunctionCost);                 \
  }

AVIDA_FUNCTION(acos, Acos, "The arc cosine, in radians.")
AVIDA_FUNCTION(acosh, Acosh, "The inverse of the hyperbolic cosine.")
AVIDA_FUNCTION(asin, Asin, "The arc sine, in radians.")
AVIDA_FUNCTION(asinh, Asinh, "The inverse of the hyperbolic sine.")
AVIDA_FUNCTION(atan, Atan, "The arc tangent, in radians.")
AVIDA_FUNCTION(atanh, Atanh, "The inverse of the hyperbolic tangent.")
AVIDA_FUNCTION(cbrt, Cbrt, "The cube root.")
AVIDA_FUNCTION(ceil, Ceil, "The smallest integer that is not less, as a float.")
AVIDA_FUNCTION(cos, Cos, "The cosine of an angle in radians.")
AVIDA_FUNCTION(cosh, Cosh, "The hyperbolic cosine.")
AVIDA_FUNCTION(exp, Exp, "The exponential function.")
AVIDA_FUNCTION(fabs, Fabs, "The absolute value as a float.")
AVIDA_FUNCTION(floor, Floor, "The largest integer that is not greater, as a float.")
AVIDA_FUNCTION(log, Log, "The natural logarithm.")
AVIDA_FUNCTION(log10, Log10, "The logarithm to base 10.")
AVIDA_FUNCTION(log2, Log2, "The logarithm to base 2.")
AVIDA_FUNCTION(rsqrt, Rsqrt, "One divided by the square root.")
AVIDA_FUNCTION(sin, Sin, "The sine of an angle in radians.")
AVIDA_FUNCTION(sinh, Sinh, "The hyperbolic sine.")
AVIDA_FUNCTION(sqrt, Sqrt, "The square root.")
AVIDA_FUNCTION(tan, Tan, "The tangent of an angle in radians.")
AVIDA_FUNCTION(tanh, Tanh, "The hyperbolic tangent.")

AVIDA_OP_IN(math, abs, NoArgs) {
  op.doc("The absolute value; keeps the type.")
      .plain()
      .input("input", "The numbers.")
      .example("avida.math.abs(avida.tensor([-1, 2]))");
  elementwise<Abs, 1, Promotion::arithmetic>(op);
}

AVIDA_OP_IN(math, atan2, NoArgs) {
  op.doc("The angle of a point in radians, correct in all four quadrants. Integers give float32.")
      .plain()
      .input("x", "The numerator: the point's second coordinate.")
      .input("y", "The denominator: the point's first coordinate.")
      .example("avida.math.atan2(avida.tensor([1.0, -1.0]), 2.0)");
  elementwise<Atan2, 2, Promotion::floating>(op, kFunctionCost);
}

AVIDA_OP_IN(math, clamp, NoArgs) {
  op.doc("Limits numbers to a range; the upper bound wins when the bounds cross.")
      .plain()
      .input("value", "The numbers to limit.")
      .input("lo", "The lower bound.")
      .input("hi", "The upper bound.")
      .example("avida.math.clamp(avida.tensor([1, 5, 9]), 2, 6)");
  elementwise<Clamp, 3, Promotion::arithmetic>(op);
}

AVIDA_OP_IN(math, fpow, NoArgs) {
  op.doc("A power, computed in floats. Integers give float32.")
      .plain()
      .input("base", "The number to raise.")
      .input("exponent", "The power to raise it to.")
      .example("avida.math.fpow(avida.tensor([2, 3]), -1)");
  elementwise<Pow, 2, Promotion::floating>(op, kFunctionCost);
}

AVIDA_OP_IN(math, max, NoArgs) {
  op.doc("The greater of two numbers.")
      .plain()
      .input("left", "One number.")
      .input("right", "The other number.")
      .example("avida.math.max(avida.tensor([1, 5]), 3)");
  elementwise<Max, 2, Promotion::arithmetic>(op);
}

AVIDA_OP_IN(math, min, NoArgs) {
  op.doc("The smaller of two numbers.")
      .plain()
      .input("left", "One number.")
      .input("right", "The other number.")
      .example("avida.math.min(avida.tensor([1, 5]), 3)");
  elementwise<Min, 2, Promotion::arithmetic>(op);
}

AVIDA_OP_IN(math, pow, NoArgs) {
  op.doc("A power. Integers stay integers: they wrap, and a negative exponent gives 0.")
      .plain()
      .input("base", "The number to raise.")
      .input("exponent", "The power to raise it to.")
      .example("avida.math.pow(avida.tensor([2, 3]), 3)");
  elementwise<Pow, 2, Promotion::arithmetic>(op, kFunctionCost);
}

}  // namespace avida::ops
