#include <algorithm>
#include <cstring>

#include "codecs/codec.h"
#include "codecs/npy.h"
#include "core/byte_order.h"
#include "core/parts/strided_copy.h"
#include "loops/moving/convert_run.h"
#include "operator/declare.h"
#include "runtime/memory.h"

namespace avida::ops {
namespace {

struct NumpyArgs {
  DType dtype = DType::none;
};

std::string_view file_of(const SampleView& in) { return {in.as<const char>(), static_cast<size_t>(in.bytes())}; }

codecs::NpyHeader header_of(std::string_view file) {
  const auto header = codecs::parse_npy_header(file, std::ssize(file));
  if (const int64_t bytes = header.data + header.bytes(); bytes != std::ssize(file))
    refuse("expected a .npy file of ", bytes, " bytes, as its header says, got ", file.size());
  return header;
}

Shape reversed(Shape shape) {
  std::reverse(shape.begin(), shape.end());
  return shape;
}

class NumpyPlan {
 public:
  explicit NumpyPlan(const Sample<NumpyArgs>& sample) : header_(header_of(file_of(sample.in[0]))) {
    const DType dtype = sample.out[0].dtype;
    if (sample.args.dtype == DType::none && header_.dtype != dtype)
      refuse("expected an array of ", dtype, " as in the first sample, got ", header_.dtype,
             "; dtype= converts all of them");
    codecs::check_memory(volume(header_.shape), size_of(dtype));
  }
  Shape shape() const { return header_.shape; }
  void run(const Sample<NumpyArgs>& sample) const {
    const SampleView& out = sample.out[0];
    const char* elements = file_of(sample.in[0]).data() + header_.data;
    if (out.dtype == header_.dtype) return read(out.data, elements);
    Block stored = allocate(header_.bytes());
    read(stored.get(), elements);
    rounding_run(out.dtype, header_.dtype)(out.data, stored.get(), out.elements());
  }

 private:
  // The elements of the file in C order and the byte order of this machine.
  void read(void* to, const char* from) const {
    const int64_t bytes = header_.bytes();
    const int size = size_of(header_.dtype);
    if (header_.fortran_order && bytes > 0) {
      Block aligned = allocate(bytes);  // the file may begin at any address
      std::memcpy(aligned.get(), from, static_cast<size_t>(bytes));
      const Shape strides = reversed(dense_strides(reversed(header_.shape)));
      StridedCopy(size, header_.shape, strides).run(to, aligned.get());
    } else if (bytes > 0) {
      std::memcpy(to, from, static_cast<size_t>(bytes));
    }
    if (header_.big_endian) swap_bytes(to, bytes / size, size);
  }

  const codecs::NpyHeader header_;
};

void infer(Infer<NumpyArgs>& call) {
  const Meta& in = call.in[0];
  if (in.dtype != DType::uint8 || in.ndim != 1)
    refuse("expected the bytes of .npy files (uint8, one axis), got ", in.dtype, " with ", in.ndim, " axes");
  call.out[0].dtype = call.args.dtype;
  call.out[0].ndim = -1;
  call.out[0].layout = {};
}

// The first file determines the element type unless that is given.
std::vector<Data> decode_arrays(const Run& run, const SampleLoop& loop) {
  Meta out = run.out[0];
  if (out.dtype == DType::none) {
    out.dtype = DType::uint8;
    if (run.samples > 0)
      at_sample(run, 0, [&] {
        SampleView first;
        input_views(run, 0, {&first, 1});
        out.dtype = header_of(file_of(first)).dtype;
      });
  }
  Run typed = run;
  typed.out = {&out, 1};
  return run_samples(typed, loop);
}

}  // namespace

AVIDA_OP_IN(decoders, numpy, NumpyArgs) {
  op.doc(
        "Decodes .npy files, as np.save writes them. All samples have one number of axes, and one element type unless "
        "`dtype` is given.")
      .input("data", "The bytes of .npy files.")
      .arg("dtype", &NumpyArgs::dtype, "The element type to convert to, as by `cast`; by default that of the files.")
      .example(
          "import io\n"
          "file = io.BytesIO()\n"
          "np.save(file, [[1, 2], [3, 4]])\n"
          "avida.decoders.numpy(file.getvalue(), dtype=avida.float32)")
      .infer(infer)
      .takes_files()
      .on_cpu()
      .each_sample<NumpyPlan>();
  op.spec.run = [loop = op.spec.loop](const Run& run) { return decode_arrays(run, *loop); };
}

}  // namespace avida::ops
