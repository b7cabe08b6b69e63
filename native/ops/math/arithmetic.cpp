// Python's operators on tensors and batches. Reached through x + y and the like.
#include "ops/math/arithmetic.h"

#include "loops/elementwise/elementwise.h"

namespace avida::ops {
namespace {

template <class Body>
struct CheckedDivision : Body {
  using OnDevice = Body;  // where nobody can look at every divisor first
  template <class T>
  static void check(const T* divisor, int64_t n) {
    if constexpr (!TypeTraits<T>::is_float) {
      bool zero = false;
      for (int64_t i = 0; i < n; i++) zero |= divisor[i] == T(0);
      if (zero) value_error("integer division by zero");
    }
  }
};

}  // namespace

#define AVIDA_BINARY(NAME, BODY, PROMOTION)            \
  AVIDA_OP_NAMED(NAME, "_arithmetic." #NAME, NoArgs) { \
    op.hidden().input("left", "").input("right", "");  \
    elementwise<BODY, 2, Promotion::PROMOTION>(op);    \
  }
#define AVIDA_UNARY(NAME, BODY, PROMOTION)             \
  AVIDA_OP_NAMED(NAME, "_arithmetic." #NAME, NoArgs) { \
    op.hidden().input("input", "");                    \
    elementwise<BODY, 1, Promotion::PROMOTION>(op);    \
  }

AVIDA_BINARY(add, Add, arithmetic)
AVIDA_BINARY(sub, Sub, arithmetic)
AVIDA_BINARY(mul, Mul, product)
AVIDA_BINARY(div, Div, floating)
AVIDA_BINARY(floordiv, CheckedDivision<FloorDiv>, arithmetic)
AVIDA_BINARY(mod, CheckedDivision<Mod>, arithmetic)
AVIDA_BINARY(pow, Pow, arithmetic)
AVIDA_BINARY(bit_and, BitAnd, bitwise)
AVIDA_BINARY(bit_or, BitOr, bitwise)
AVIDA_BINARY(bit_xor, BitXor, bitwise)
AVIDA_BINARY(shl, ShiftLeft, bitwise)
AVIDA_BINARY(shr, ShiftRight, bitwise)
AVIDA_BINARY(eq, Equal, comparison)
AVIDA_BINARY(ne, NotEqual, comparison)
AVIDA_BINARY(lt, Less, comparison)
AVIDA_BINARY(le, LessEqual, comparison)
AVIDA_BINARY(gt, Greater, comparison)
AVIDA_BINARY(ge, GreaterEqual, comparison)
AVIDA_UNARY(plus, Plus, product)
AVIDA_UNARY(minus, Minus, arithmetic)
AVIDA_UNARY(bit_not, BitNot, bitwise)

}  // namespace avida::ops
