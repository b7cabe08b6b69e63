#include "core/dtype.h"

namespace avida {
namespace {
struct Info {
  int size;
  std::string_view name;
  bool is_float, is_signed;
};
constexpr Info kInfo[kAllDTypeCount] = {
#define AVIDA_X(T, M, N) {sizeof(T), N, TypeTraits<T>::is_float, TypeTraits<T>::is_signed},
    AVIDA_EACH_DTYPE(AVIDA_X)
#undef AVIDA_X
        {4, "ImageType", false, true},
    {4, "DataType", false, true},
    {4, "InterpType", false, true},
};
}  // namespace

int size_of(DType dtype) { return dtype == DType::none ? 0 : kInfo[static_cast<int>(dtype)].size; }
std::string_view name_of(DType dtype) { return dtype == DType::none ? "none" : kInfo[static_cast<int>(dtype)].name; }
bool is_float(DType dtype) { return dtype != DType::none && kInfo[static_cast<int>(dtype)].is_float; }
bool is_signed(DType dtype) { return dtype != DType::none && kInfo[static_cast<int>(dtype)].is_signed; }

}  // namespace avida
