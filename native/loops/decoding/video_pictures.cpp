// Converts the pictures of videos on a GPU to interleaved pixels, many with one launch.
#include "codecs/video/gpu_video.h"
#include "loops/decoding/picture_item.h"
#include "operator/gpu_call.h"
#include "operator/launches.h"

namespace avida {
namespace {

using codecs::GpuPicture;
using codecs::GpuPixels;

template <class Sample, class Out>
void add(Launches& launches, const GpuPicture& picture, const GpuPixels& to) {
  using Body = PicturePixels<Sample, Out>;
  const codecs::PicturePlanes& planes = picture.planes;
  launches.add<Body>(0, int64_t{planes.height} * Body::items_per_row(planes.width),
                     {static_cast<Out*>(picture.pixels),
                      {planes.planes[0], planes.planes[1], planes.planes[2]},
                      {planes.strides[0], planes.strides[1], planes.strides[2]},
                      planes.height,
                      planes.width,
                      planes.chroma_height,
                      planes.chroma_width,
                      planes.chroma_step,
                      planes.bits,
                      mix_of(planes, to.type),
                      to.scale});
}

template <class Out>
void add(Launches& launches, const GpuPicture& picture, const GpuPixels& to) {
  if (picture.planes.bits > 8)
    add<uint16_t, Out>(launches, picture, to);
  else
    add<uint8_t, Out>(launches, picture, to);
}

void convert_pictures(std::span<const GpuPicture> pictures, const GpuPixels& to, const GpuStream& stream) {
  launch_on_gpu(stream, [&](Launches& launches) {
    for (const GpuPicture& picture : pictures)
      if (to.dtype == DType::uint8)
        add<uint8_t>(launches, picture, to);
      else
        add<float>(launches, picture, to);
  });
}

[[maybe_unused]] const bool given_at_load = codecs::set_picture_conversion(convert_pictures);

}  // namespace
}  // namespace avida
